import type { buildConnector } from 'undici';
import { openReceiver, type Receiver } from './receiver.ts';

export interface ReceiversOptions {
  connect: buildConnector.connector;
  maxSocketsPerHost: number;
  /** With more sockets open, idle receivers lose theirs. */
  maxSockets: number;
}

export interface Receivers {
  find(origin: string): Receiver | undefined;
  add(origin: string): Receiver;
  /** How many are in memory: those with requests and those with open connections. */
  readonly size: number;
  destroy(): Promise<void>;
}

/** Keeps a receiver only as long as it has requests or an open connection. */
export function createReceivers({ connect, maxSocketsPerHost, maxSockets }: ReceiversOptions): Receivers {
  const receivers = new Map<string, Receiver>();
  /** Those without requests, the longest idle first. */
  const idle = new Set<Receiver>();
  let sockets = 0;

  function drop(receiver: Receiver): void {
    idle.delete(receiver);
    receivers.delete(receiver.origin);
    sockets -= receiver.sockets;
    receiver.close();
  }

  function dropIdleAboveLimit(): void {
    for (const receiver of idle) {
      if (sockets <= maxSockets) return;
      drop(receiver);
    }
  }

  const options = {
    connect,
    maxSockets: maxSocketsPerHost,
    onSocketOpened: () => {
      sockets++;
      dropIdleAboveLimit();
    },
    onSocketClosed: (receiver: Receiver) => {
      sockets--;
      if (receiver.sockets === 0 && idle.has(receiver)) drop(receiver);
    },
    onBusy: (receiver: Receiver) => void idle.delete(receiver),
    onIdle: (receiver: Receiver) => {
      idle.add(receiver);
      if (receiver.sockets === 0) drop(receiver);
      else dropIdleAboveLimit();
    },
  };

  return {
    find: origin => receivers.get(origin),
    add: origin => {
      const receiver = openReceiver(origin, options);
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
