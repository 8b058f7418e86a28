import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** One caller's connection and the one made for it on the other side. */
export interface Pair {
  caller: Socket;
  target: Socket;
  /** As if the network between them was gone: both sides see a reset. */
  cut(): void;
}

export interface TcpProxy {
  port: number;
  /** How many connections have come so far. */
  accepted(): number;
  cutAll(): void;
  close(): Promise<void>;
}

/** Stands between a caller and a port of this machine; `wire` says what becomes of the bytes. */
export async function createProxy(targetPort: number, wire: (pair: Pair) => void): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let accepted = 0;
  const server = createServer(caller => {
    accepted += 1;
    const target = connect(targetPort, '127.0.0.1');
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
      // An error is followed by the end, and the end of one side is that of the other.
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
    accepted: () => accepted,
    cutAll,
    close: async () => {
      server.close();
      cutAll();
    },
  };
}
