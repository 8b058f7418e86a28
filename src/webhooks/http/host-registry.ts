import type { buildConnector } from 'undici';
import { type HostConnections, openHostConnections } from './host-connections.ts';

export interface HostRegistryOptions {
  connect: buildConnector.connector;
  maxSocketsPerHost: number;
  /** With more sockets open, idle hosts lose theirs. */
  maxSockets: number;
}

/** Keeps a host only as long as it has requests or an open connection. */
export function createHostRegistry({ connect, maxSocketsPerHost, maxSockets }: HostRegistryOptions) {
  const hosts = new Map<string, HostConnections>();
  /** Those without requests, the longest idle first. */
  const idle = new Set<HostConnections>();
  let sockets = 0;

  function drop(host: HostConnections): void {
    idle.delete(host);
    hosts.delete(host.origin);
    sockets -= host.sockets;
    host.close();
  }

  function dropIdleAboveLimit(): void {
    for (const host of idle) {
      if (sockets <= maxSockets) return;
      drop(host);
    }
  }

  const options = {
    connect,
    maxSockets: maxSocketsPerHost,
    onSocketOpened: () => {
      sockets++;
      dropIdleAboveLimit();
    },
    onSocketClosed: (host: HostConnections) => {
      sockets--;
      if (host.sockets === 0 && idle.has(host)) drop(host);
    },
    onBusy: (host: HostConnections) => void idle.delete(host),
    onIdle: (host: HostConnections) => {
      idle.add(host);
      if (host.sockets === 0) drop(host);
      else dropIdleAboveLimit();
    },
  };

  return {
    find: (origin: string) => hosts.get(origin),
    add: (origin: string) => {
      const host = openHostConnections(origin, options);
      hosts.set(origin, host);
      return host;
    },
    /** How many are in memory: those with requests and those with open connections. */
    get size() {
      return hosts.size;
    },
    destroy: async () => {
      await Promise.all([...hosts.values()].map(({ pool }) => pool.destroy()));
    },
  };
}
