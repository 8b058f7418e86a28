import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../src/api/http/listen.ts';
import { findPort, sharesPort } from '../../src/runtime/port.ts';

const settings = { host: '127.0.0.1', port: 0, sharesPort };

test.runIf(sharesPort)('a burst of connections is accepted at once', async () => {
  const server = Fastify();
  const address = new URL(await listen(server, settings));
  let accepted = 0;
  server.server.on('connection', () => {
    accepted += 1;
  });
  const burst = 500;
  const callers = Array.from({ length: burst }, () => connect(Number(address.port), address.hostname));
  onTestFinished(async () => {
    for (const caller of callers) caller.destroy();
    await server.close();
  });
  await Promise.all(callers.map(caller => once(caller, 'connect')));
  let turns = 0;
  for (; accepted < burst; turns++) await nextTurn();
  // One per turn and socket.
  expect(turns).toBeLessThan(burst / 4);
});

test('the port closes with the server, once its connections have ended', async () => {
  const server = Fastify();
  const { port, hostname } = new URL(await listen(server, settings));
  await server.close();
  expect(await findPort({ host: hostname, port: Number(port) })).toBe(Number(port));
});

test('a port whose sockets could be shared is refused all the same', async () => {
  const other = createServer().listen({ port: 0, host: '127.0.0.1', reusePort: sharesPort });
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await expect(findPort({ host: '127.0.0.1', port })).rejects.toThrow(
    `PORT ${port} on 127.0.0.1 is in use: stop the program that has it, or set PORT to another.`,
  );
});
