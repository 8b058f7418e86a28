import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { inject } from 'vitest';
import { afterFile } from './after-file.ts';
import type { Issued } from './certificates.ts';

const sslRequest = 80877103;

/**
 * A port that leads to a test database, whatever database the caller names. New connections can be led elsewhere while
 * the old ones go on, as after a fail-over in which the old primary stays up; or refused. With a certificate it speaks TLS.
 */
export async function openDatabaseHost(database: string, certificate?: Issued) {
  let target: string | undefined = database;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  };

  const forward = (caller: Socket, opening: Buffer, name: string) => {
    const { host, port } = inject('connection');
    const server = connect(`${host}/.s.PGSQL.${port}`);
    keep(server);
    server.write(withDatabase(opening, name));
    caller.pipe(server).pipe(caller);
    caller.on('close', () => server.destroy());
    server.on('close', () => caller.destroy());
  };

  const accept = (caller: Socket) => {
    keep(caller);
    caller.once('data', opening => {
      if (target === undefined) return caller.destroy();
      if (opening.readUInt32BE(4) !== sslRequest) return forward(caller, opening, target);
      caller.write(certificate ? 'S' : 'N');
      return accept(certificate ? new TLSSocket(caller, { isServer: true, ...certificate }) : caller);
    });
  };

  const listener = createServer(accept).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  afterFile(() => {
    listener.close();
    for (const socket of sockets) socket.destroy();
  });
  return {
    port: (listener.address() as AddressInfo).port,
    /** Where new connections lead; undefined: nowhere. */
    leadTo: (name: string | undefined) => {
      target = name;
    },
    cutAll: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The start-up message with another database in it. */
function withDatabase(message: Buffer, name: string): Buffer {
  const words = message.subarray(8, message.readUInt32BE(0)).toString().split('\0');
  words[words.indexOf('database') + 1] = name;
  const rest = Buffer.from(words.join('\0'));
  const head = Buffer.from(message.subarray(0, 8));
  head.writeUInt32BE(8 + rest.length);
  return Buffer.concat([head, rest]);
}
