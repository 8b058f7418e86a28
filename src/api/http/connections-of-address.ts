import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../../operators/index.ts';
import { isAddressAllowed } from '../../partners/index.ts';

interface AddressBound {
  maxPerAddress: number;
  /** A trusted proxy connects for many callers, so it has no bound of its own. */
  trustProxy: string[];
  /** Whether a connection has a request that has arrived and is not answered. */
  hasUnanswered: (socket: Socket) => boolean;
}

/**
 * Keeps one address from taking the connections of all. Beyond its bound a new connection takes the place of its longest
 * idle one; if none is idle, the new one is closed.
 */
export function limitPerAddress(
  server: Server,
  { maxPerAddress, trustProxy, hasUnanswered }: AddressBound,
): void {
  const isProxy = (address: string) => trustProxy.length > 0 && isAddressAllowed(trustProxy, address);
  /** The longest idle first. */
  const openOf = new Map<string, Set<Socket>>();
  const socketsWith = new WeakMap<Socket, Set<Socket>>();
  server.on('connection', socket => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isProxy(remoteAddress)) return;
    const network = networkOf(remoteAddress);
    const open = openOf.get(network) ?? new Set();
    if (open.size >= maxPerAddress) {
      const idle = [...open].find(one => !hasUnanswered(one));
      if (!idle) return void socket.destroy();
      open.delete(idle);
      idle.destroy();
    }
    openOf.set(network, open.add(socket));
    socketsWith.set(socket, open);
    socket.once('close', () => {
      if (open.delete(socket) && open.size === 0) openOf.delete(network);
    });
  });
  server.on('request', ({ socket }, response) => {
    const open = socketsWith.get(socket);
    response.once('close', () => {
      if (open?.delete(socket)) open.add(socket);
    });
  });
}
