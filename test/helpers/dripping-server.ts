import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

/** What comes before the drops, and each drop. */
const parts = {
  headers: [`${head}x-slow: `, 'a'],
  body: [`${head}transfer-encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
  // A record of TLS with 16 KiB.
  handshake: ['\x16\x03\x03\x40\x00', '\x02'],
} as const;

export type Dripping = keyof typeof parts;

/** Some drops, to see that it drips. */
const someDrops = 5;
const pauseMs = 2;

/** A server whose answer never ends: one byte after the other, until the other side hangs up or the test ends. */
export async function startDrippingServer(part: Dripping) {
  const dripping = Promise.withResolvers<void>();
  const hungUp = Promise.withResolvers<void>();
  const sockets: Socket[] = [];
  const server = createServer(socket => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      const [before, drop] = parts[part];
      socket.write(before, 'latin1');
      let drops = 0;
      const timer = setInterval(() => {
        socket.write(drop);
        if (++drops === someDrops) dripping.resolve();
      }, pauseMs);
      socket.on('close', () => {
        clearInterval(timer);
        hungUp.resolve();
      });
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** A client has got some drops. */
    dripping: dripping.promise,
    /** The client has closed the connection; the server never does. */
    hungUp: hungUp.promise,
  };
}
