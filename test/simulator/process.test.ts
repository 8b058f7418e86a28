import { expect, test } from 'vitest';
import { newFolder } from '../helpers/folders.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';

test.concurrent('a folder has one simulator', async () => {
  const dir = newFolder();
  const first = await startSimulator({}, dir);
  const waiting = startSimulator({}, dir);
  await new Promise(resolve => setTimeout(resolve, 300));
  await Promise.all([first.stop('SIGKILL'), expect(waiting).resolves.toBeDefined()]);
  await expect(startSimulator({}, dir)).rejects.toThrow(
    /^the simulator ended with 1: SIMULATOR_DIR \S+ is in use/,
  );
});

test.concurrent.each(['SIGTERM', 'SIGINT'] as const)(
  'ends at once on %s, stalled clients or not',
  async signal => {
    const simulator = await startSimulator();
    const qr = await makeQr(simulator);
    await qr.fault({ on: 'resolve', kind: 'stall' });
    const stalled = qr.resolve().then(
      () => 'answered',
      () => 'hung up on',
    );
    await new Promise(resolve => setTimeout(resolve, 50));
    expect(await simulator.stop(signal)).toBe(0);
    expect(await stalled).toBe('hung up on');
  },
);

test.concurrent('ends with its stdin only if the setting is on', async () => {
  const [follower, loner] = await Promise.all([
    startSimulator({ SIMULATOR_FOLLOW_STDIN: '1' }),
    startSimulator(),
  ]);
  loner.closeStdin();
  follower.closeStdin();
  expect(await follower.ended).toBe(0);
  expect((await loner.call('GET', '/rate')).status).toBe(200);
});

test.concurrent.each([
  ['SIMULATOR_PORT', 'x'],
  ['SIMULATOR_PORT', '70000'],
  ['SIMULATOR_RATE', 'ninety'],
])('a bad %s=%s is one line that names it', async (name, value) => {
  await expect(startSimulator({ [name]: value })).rejects.toThrow(
    new RegExp(`ended with 1: ${name} must [^\\n]*\\n$`),
  );
});

test.concurrent('a port in use is one line that names it', async () => {
  const port = new URL((await startSimulator()).address).port;
  await expect(startSimulator({ SIMULATOR_PORT: port })).rejects.toThrow(
    /ended with 1: SIMULATOR_PORT [^\n]*EADDRINUSE\.\n$/,
  );
});
