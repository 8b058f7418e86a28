import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give out on `listen(0)`: nothing else takes one of these before it is used. */
const [lowest, highest] = [15_000, 31_999];

let next = randomInt(lowest, highest + 1);

/** A port on loopback where nobody listens, for a program that gets its port from the test. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = next;
    next = port === highest ? lowest : port + 1;
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
