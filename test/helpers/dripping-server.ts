import { startTcpReceiver } from './tcp-receivers.ts';

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
  const { port } = await startTcpReceiver(socket => {
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
  return {
    url: `http://127.0.0.1:${port}`,
    /** A client has got some drops. */
    dripping: dripping.promise,
    /** The client has closed the connection; the server never does. */
    hungUp: hungUp.promise,
  };
}
