import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { buildConnector, Pool } from 'undici';
import { undici } from '../../http-client/index.ts';
import { readTls, type TlsFacts } from './connect.ts';

/** One host and port: its connections, and the requests that use or wait for one. */
export interface Host {
  readonly pool: Pool;
  /** Facts of the newest connection. */
  readonly tls: TlsFacts | undefined;
  /** Runs `start` when a connection may be used. */
  enqueue(start: () => void): void;
  /** Leaves the queue; false when it was started already. */
  dequeue(start: () => void): boolean;
  /** A request has ended: the next one in the queue may start. */
  finish(): void;
}

interface HostsOptions {
  connect: buildConnector.connector;
  maxSocketsPerHost: number;
  /** With more sockets open, idle hosts lose theirs. */
  maxSockets: number;
}

/** Keeps a host only as long as it has requests or an open connection. */
export function createHosts({ connect, maxSocketsPerHost, maxSockets }: HostsOptions) {
  const hosts = new Map<string, Host>();
  /** How to drop those without requests, the longest idle first. */
  const idle = new Set<() => void>();
  let sockets = 0;

  function dropIdleAboveLimit(): void {
    for (const drop of idle) {
      if (sockets <= maxSockets) return;
      drop();
    }
  }

  function add(origin: string): Host {
    const queue = new Set<() => void>();
    let busy = 0;
    let ownSockets = 0;
    let tls: TlsFacts | undefined;

    function drop(): void {
      idle.delete(drop);
      hosts.delete(origin);
      sockets -= ownSockets;
      ownSockets = 0;
      // With a callback, undici accepts a pool that is closed already.
      pool.close(() => {});
    }

    function onOpened(socket: Socket): void {
      if (socket instanceof TLSSocket) tls = readTls(socket);
      ownSockets++;
      sockets++;
      dropIdleAboveLimit();
      socket.once('close', () => {
        // After `drop` they have been counted off already.
        if (ownSockets === 0) return;
        ownSockets--;
        sockets--;
        if (ownSockets === 0 && idle.has(drop)) drop();
      });
    }

    function startNext(): void {
      for (const start of queue) {
        queue.delete(start);
        start();
        return;
      }
      busy--;
      if (busy > 0) return;
      idle.add(drop);
      if (ownSockets === 0) drop();
      else dropIdleAboveLimit();
    }

    const pool = createPool(origin, connect, maxSocketsPerHost, onOpened);
    const host: Host = {
      pool,
      get tls() {
        return tls;
      },
      enqueue: start => {
        if (busy >= maxSocketsPerHost) return void queue.add(start);
        busy++;
        idle.delete(drop);
        start();
      },
      dequeue: start => queue.delete(start),
      // Deferred, since an abort or a deadline may end many at once: it must not start those it is about to end.
      finish: () => void setImmediate(startNext),
    };
    hosts.set(origin, host);
    return host;
  }

  return {
    find: (origin: string) => hosts.get(origin),
    add,
    /** How many are in memory: those with requests and those with open connections. */
    get size() {
      return hosts.size;
    },
    destroy: async () => {
      await Promise.all([...hosts.values()].map(({ pool }) => pool.destroy()));
    },
  };
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
