import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type buildConnector, Pool } from 'undici';
import { readTls, type TlsFacts } from './connect.ts';

/** One host and port: its connections, and who uses or waits for one. */
export interface Receiver {
  readonly pool: Pool;
  /** Of the newest connection. */
  readonly tls: TlsFacts | undefined;
  /** Runs `start` when one of the receiver's places is free. */
  enter(start: () => void): void;
  /** Gives up waiting; false for who has a place already. */
  giveUp(start: () => void): boolean;
  /** Gives the place back. */
  leave(): void;
}

export interface ReceiversOptions {
  connect: buildConnector.connector;
  maxSocketsPerHost: number;
  /** With more than these open, receivers that have nothing to do lose theirs. */
  maxSockets: number;
}

export interface Receivers {
  known(origin: string): Receiver | undefined;
  add(origin: string): Receiver;
  /** How many are known: those with something to do and those with an open connection. */
  readonly size: number;
  destroy(): Promise<void>;
}

interface Kept {
  origin: string;
  pool: Pool;
  sockets: number;
}

/** Knows a receiver only as long as it has something to do or an open connection. */
export function createReceivers({ connect, maxSocketsPerHost, maxSockets }: ReceiversOptions): Receivers {
  const receivers = new Map<string, Receiver>();
  /** Those with nothing to do, the one that rests longest first. */
  const resting = new Set<Kept>();
  let sockets = 0;

  function drop(kept: Kept): void {
    resting.delete(kept);
    receivers.delete(kept.origin);
    sockets -= kept.sockets;
    kept.sockets = 0;
    // With a callback it does not mind a pool that is closed already.
    kept.pool.close(() => {});
  }

  function makeRoom(): void {
    for (const kept of resting) {
      if (sockets <= maxSockets) return;
      drop(kept);
    }
  }

  function open(origin: string): Receiver {
    const waiting = new Set<() => void>();
    let busy = 0;
    let tls: TlsFacts | undefined;
    const pool = new Pool(origin, {
      connections: maxSocketsPerHost,
      allowH2: false,
      // Whoever sends keeps the time; these would only be two more timers.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveMaxTimeout: 60_000,
      connect: (target, callback) =>
        connect(target, (error, socket) => {
          if (error) return callback(error, null);
          opened(socket);
          callback(null, socket);
        }),
    });
    const kept: Kept = { origin, pool, sockets: 0 };

    function opened(socket: Socket): void {
      if (socket instanceof TLSSocket) tls = readTls(socket);
      kept.sockets++;
      sockets++;
      makeRoom();
      socket.once('close', () => {
        // Dropped receivers do not count any more.
        if (kept.sockets === 0) return;
        kept.sockets--;
        sockets--;
        if (kept.sockets === 0 && resting.has(kept)) drop(kept);
      });
    }

    function passOn(): void {
      for (const start of waiting) {
        waiting.delete(start);
        start();
        return;
      }
      busy--;
      if (busy > 0) return;
      resting.add(kept);
      if (kept.sockets === 0) drop(kept);
      else makeRoom();
    }

    return {
      pool,
      get tls() {
        return tls;
      },
      enter: start => {
        if (busy < maxSocketsPerHost) {
          busy++;
          resting.delete(kept);
          start();
        } else {
          waiting.add(start);
        }
      },
      giveUp: start => waiting.delete(start),
      // Later, since many may be given up together: an abort or a deadline should not start those it is about to end.
      leave: () => void setImmediate(passOn),
    };
  }

  return {
    known: origin => receivers.get(origin),
    add: origin => {
      const receiver = open(origin);
      receivers.set(origin, receiver);
      return receiver;
    },
    get size() {
      return receivers.size;
    },
    destroy: async () => {
      await Promise.all([...receivers.values()].map(({ pool }) => pool.destroy()));
    },
  };
}
