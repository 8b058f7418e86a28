import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, inject } from 'vitest';
import { openPool, type Pool } from '../../src/db/postgres/pool.ts';

/**
 * The same database through a TCP proxy that can fall silent: it passes no more bytes and closes nothing, so the server
 * keeps the sessions as it does after a cut cable. (On one machine a cut cable cannot be had otherwise: the kernel closes
 * the connections of a process that ends, and answers keep-alives for one that is stopped.)
 */
export async function openThroughSilentProxy(pool: Pool) {
  const { host, port, user } = inject('connection');
  const sockets: Socket[] = [];
  let link = { isSilent: false };
  const server = createServer(caller => {
    const own = link;
    const target = connect(`${host}/.s.PGSQL.${port}`);
    sockets.push(caller, target);
    const forward = (from: Socket, to: Socket) => {
      from.on('data', chunk => !own.isSilent && to.write(chunk));
      from.on('close', () => !own.isSilent && to.destroy());
      from.on('error', () => {});
    };
    forward(caller, target);
    forward(target, caller);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const through = openPool({ host: '127.0.0.1', port: address.port, user, database: pool.options.database! });
  afterAll(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await through.end().catch(() => {});
  });
  return {
    pool: through,
    /** From now on, for all connections there are and those to come. */
    fallSilent: () => {
      link.isSilent = true;
    },
    /** New connections work again; the old ones stay silent. */
    restore: () => {
      link = { isSilent: false };
    },
  };
}
