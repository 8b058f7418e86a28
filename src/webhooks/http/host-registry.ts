import type { buildConnector } from 'undici';
import { type HostConnections, openHostConnections } from './host-connections.ts';

export interface ReceiversOptions {
  connect: buildConnector.connector;
  maxSocketsPerHost: number;
  /** With more sockets open, idle receivers lose theirs. */
  maxSockets: number;
}

export interface Receivers {
  find(origin: string): HostConnections | undefined;
  add(origin: string): HostConnections;
  /** How many are in memory: those with requests and those with open connections. */
  readonly size: number;
  destroy(): Promise<void>;
}

/** Keeps a receiver only as long as it has requests or an open connection. */
export function createReceivers({ connect, maxSocketsPerHost, maxSockets }: ReceiversOptions): Receivers {
  const receivers = new Map<string, HostConnections>();
  /** Those without requests, the longest idle first. */
  const idle = new Set<HostConnections>();
  let sockets = 0;

  function drop(receiver: HostConnections): void {
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
    onSocketClosed: (receiver: HostConnections) => {
      sockets--;
      if (receiver.sockets === 0 && idle.has(receiver)) drop(receiver);
    },
    onBusy: (receiver: HostConnections) => void idle.delete(receiver),
    onIdle: (receiver: HostConnections) => {
      idle.add(receiver);
      if (receiver.sockets === 0) drop(receiver);
      else dropIdleAboveLimit();
    },
  };

  return {
    find: origin => receivers.get(origin),
    add: origin => {
      const receiver = openHostConnections(origin, options);
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
