import type { Worker } from 'node:cluster';

/** What Node sends to a worker with a new connection, and back when the worker has it. */
interface ClusterMessage {
  cmd?: unknown;
  act?: unknown;
  seq?: number;
  ack?: number;
}

interface Handle {
  close(): void;
}

/**
 * Closes the connections that were on their way to a worker when it ended. Node's primary keeps its copy of a connection
 * until the worker confirms it: if the worker ends before, nobody reads the connection and nobody closes it, and its caller
 * waits until its own time-out. Whether the worker has read from it is not known, so no other worker can go on with it.
 *
 * Node has no public event for this, so its own messages are watched.
 */
export function closeLostConnections({ process: child }: Worker): void {
  const underWay = new Map<number, Handle>();
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = ((...args: unknown[]) => {
    const [message, handle] = args as [ClusterMessage, Handle | undefined];
    if (message.cmd === 'NODE_CLUSTER' && message.act === 'newconn' && handle)
      underWay.set(message.seq!, handle);
    return send(...args);
  }) as typeof child.send;
  child.on('internalMessage', ({ ack }: ClusterMessage) => {
    if (ack !== undefined) underWay.delete(ack);
  });
  child.once('exit', () => {
    for (const handle of underWay.values()) handle.close();
  });
}
