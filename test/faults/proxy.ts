import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A caller's connection and the connection to the target that belongs to it. */
export interface Pair {
  caller: Socket;
  target: Socket;
  /** Breaks the connection: both sides get a reset. */
  cut(): void;
}

/**
 * A proxy in front of a port of this machine; `wire` forwards the bytes, or does not. The port is asked for with each new
 * connection.
 */
export async function createProxy(targetPort: number | (() => number), wire: (pair: Pair) => void) {
  const pairs = new Set<Pair>();
  let accepted = 0;
  const server = createServer(caller => {
    accepted += 1;
    const target = connect(typeof targetPort === 'number' ? targetPort : targetPort(), '127.0.0.1');
    const pair: Pair = {
      caller,
      target,
      cut: () => {
        pairs.delete(pair);
        for (const socket of [caller, target]) socket.resetAndDestroy();
      },
    };
    pairs.add(pair);
    for (const socket of [caller, target]) {
      socket.setNoDelay();
      // An error is followed by 'close', and the end of one side ends the other.
      socket.on('error', () => {});
      socket.on('close', pair.cut);
    }
    wire(pair);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cutAll = () => {
    for (const pair of [...pairs]) pair.cut();
  };
  return {
    port: (server.address() as AddressInfo).port,
    /** Number of connections so far. */
    accepted: () => accepted,
    cutAll,
    close: async () => {
      server.close();
      cutAll();
    },
  };
}
