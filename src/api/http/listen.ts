import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Node accepts one connection per socket in each turn of its event loop. When a process is busy, a turn takes 100 ms and more: with one
 * socket, a burst of a thousand connections waited for four seconds.
 */
const maxSockets = 64;

interface Address {
  host: string;
  port: number;
  /** Whether sockets can share it. */
  sharesPort: boolean;
}

/** Listens with so many sockets that a burst of connections is accepted at once. All processes of the service share the port. */
export async function listen(server: FastifyInstance, { host, port, sharesPort }: Address): Promise<string> {
  const further = Array.from({ length: sharesPort ? maxSockets - 1 : 0 }, () =>
    // As Node makes the socket of an HTTP server.
    createServer({ allowHalfOpen: true, noDelay: true }, socket => server.server.emit('connection', socket)),
  );
  server.addHook('preClose', done => {
    for (const each of further) each.close();
    done();
  });
  const closed = Promise.all(further.map(each => new Promise(resolve => each.once('close', resolve))));
  server.addHook('onClose', async () => void (await closed));
  const options = { host, port, reusePort: sharesPort };
  const address = await server.listen(options);
  const given = (server.server.address() as AddressInfo).port;
  await Promise.all(further.map(each => once(each.listen({ ...options, port: given }), 'listening')));
  return address;
}
