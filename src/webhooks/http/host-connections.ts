import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { buildConnector, Pool } from 'undici';
import { undici } from '../../http-client/index.ts';
import { readTls, type TlsFacts } from './connect.ts';

/** One host and port: its connections, and the requests that use or wait for one. */
export interface HostConnections {
  readonly origin: string;
  readonly pool: Pool;
  /** Facts of the newest connection. */
  readonly tls: TlsFacts | undefined;
  /** Open connections. */
  readonly sockets: number;
  /** Runs `start` when a connection may be used. */
  enqueue(start: () => void): void;
  /** Leaves the queue; false when it was started already. */
  dequeue(start: () => void): boolean;
  /** A request has ended: the next one in the queue may start. */
  finish(): void;
  /** For a host without requests. Its connections count no more. */
  close(): void;
}

export interface HostOptions {
  connect: buildConnector.connector;
  maxSockets: number;
  onSocketOpened(host: HostConnections): void;
  onSocketClosed(host: HostConnections): void;
  onBusy(host: HostConnections): void;
  /** Its last request has ended. */
  onIdle(host: HostConnections): void;
}

export function openHostConnections(origin: string, options: HostOptions): HostConnections {
  const { connect, maxSockets } = options;
  const queue = new Set<() => void>();
  let busy = 0;
  let sockets = 0;
  let tls: TlsFacts | undefined;

  function onOpened(socket: Socket): void {
    if (socket instanceof TLSSocket) tls = readTls(socket);
    sockets++;
    options.onSocketOpened(host);
    socket.once('close', () => {
      // After `close` they have been counted off already.
      if (sockets === 0) return;
      sockets--;
      options.onSocketClosed(host);
    });
  }

  function startNext(): void {
    for (const start of queue) {
      queue.delete(start);
      start();
      return;
    }
    busy--;
    if (busy === 0) options.onIdle(host);
  }

  const host: HostConnections = {
    origin,
    pool: createPool(origin, connect, maxSockets, onOpened),
    get tls() {
      return tls;
    },
    get sockets() {
      return sockets;
    },
    enqueue: start => {
      if (busy >= maxSockets) return void queue.add(start);
      busy++;
      options.onBusy(host);
      start();
    },
    dequeue: start => queue.delete(start),
    // Deferred, since an abort or a deadline may end many at once: it must not start those it is about to end.
    finish: () => void setImmediate(startNext),
    close: () => {
      sockets = 0;
      // With a callback, undici accepts a pool that is closed already.
      host.pool.close(() => {});
    },
  };
  return host;
}

const createPool = (
  origin: string,
  connect: buildConnector.connector,
  maxSockets: number,
  onOpened: (socket: Socket) => void,
) =>
  new (undici().Pool)(origin, {
    connections: maxSockets,
    allowH2: false,
    // The request has its own deadline (post.ts); these would only be two more timers.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveMaxTimeout: 60_000,
    connect: (target, callback) =>
      connect(target, (error, socket) => {
        if (error) return callback(error, null);
        onOpened(socket);
        callback(null, socket);
      }),
  });
