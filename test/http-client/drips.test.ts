import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { examineCertificate } from '../../src/cli/doctor/certificate.ts';
import { startDrippingServer } from '../helpers/dripping-server.ts';
import { clients, otherCallers } from './clients.ts';

// Time passes only when a test says so; servers drip in real time.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

describe.each(Object.entries(clients))('%s', (_name, { call, limitMs, ends }) => {
  test.each(['headers', 'body'] as const)('a call ends at its limit while the %s drip', async part => {
    const server = await startDrippingServer(part);
    let isOver = false;
    const ended = call(server.url).then(result => {
      isOver = true;
      return result;
    });
    await server.dripping;
    await vi.advanceTimersByTimeAsync(limitMs - 1);
    await nextTurn();
    const wasOver = isOver;
    await vi.advanceTimersByTimeAsync(1);
    const result = await ended;
    await server.hungUp;
    expect(result).toMatch(ends);
    // A webhook is answered by its status.
    expect(wasOver).toBe(result === 'answered');
  });
});

test('a look at a certificate ends at its limit while the handshake drips', async () => {
  const server = await startDrippingServer('handshake');
  const finding = examineCertificate(server.url.replace('http:', 'https:'));
  await server.dripping;
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await finding).detail).toContain('cannot be reached from here (no answer)');
  await server.hungUp;
});

/** What makes a call, or a client of a library. */
const makesCalls =
  /\b(callHttp|createFetch|readAnswer|createPublicClient)\(|new (Api|Bot|AwsClient|Kopeck)\(|from '(undici|node:tls)'/;

test('every file that makes calls is in the list', () => {
  const root = join(import.meta.dirname, '../..');
  const listed = [...Object.values(clients).map(({ file }) => file), ...otherCallers];
  const files = globSync('src/**/*.ts', { cwd: root }).filter(
    file => !file.startsWith('src/http-client/') && makesCalls.test(readFileSync(join(root, file), 'utf8')),
  );
  expect(files.filter(file => !listed.some(known => file.startsWith(known)))).toEqual([]);
  expect(listed.filter(known => !files.some(file => file.startsWith(known)))).toEqual([]);
});
