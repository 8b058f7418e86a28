import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Issued } from './certificates.ts';

export interface TestReceiver {
  port: number;
  /** All connections ever made to it. */
  connections: Socket[];
}

/** Listens on this machine until the end of the test. */
async function listen(server: Server): Promise<TestReceiver> {
  const connections: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    connections.push(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of connections) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections };
}

const fine: RequestListener = (request, response) => request.resume().on('end', () => response.end('ok'));

export const startHttpReceiver = (answer = fine) => listen(createServer(answer));

export const startTlsReceiver = ({ key, cert }: Issued) =>
  listen(createSecureServer({ key, cert }, fine).on('tlsClientError', () => {}));

/** Sends any bytes; without `speak` it only counts connections. */
export const startTcpReceiver = (speak: (socket: Socket) => void = () => {}) =>
  // A socket that is not read does not notice the end of its connection.
  listen(createTcpServer(socket => speak(socket.resume())));
