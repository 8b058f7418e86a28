import type { Worker } from 'node:cluster';
import { createMutex } from '../base/mutex.ts';
import type { Message } from './cluster-channel.ts';

type LockMessage = Extract<Message, { kopeck: 'image_lock' }>;
type Requester = Pick<Worker, 'isConnected'> & {
  once(event: 'disconnect', listener: () => void): unknown;
  send(message: Message, callback: () => void): unknown;
};

/** In the primary process: one worker at a time has the lock, and a worker that ends releases it. */
export function createClusterMutex(): (worker: Requester, message: LockMessage) => Promise<void> {
  const acquire = createMutex();
  const releases = new WeakMap<Requester, Map<number, () => void>>();

  function releasesOf(worker: Requester): Map<number, () => void> {
    const known = releases.get(worker);
    if (known) return known;
    const own = new Map<number, () => void>();
    releases.set(worker, own);
    worker.once('disconnect', () => {
      for (const release of own.values()) release();
    });
    return own;
  }

  return async (worker, { state, requestId }) => {
    const own = releasesOf(worker);
    if (state === 'released') own.get(requestId)?.();
    if (state !== 'requested') return;
    const release = await acquire();
    if (!worker.isConnected()) return release();
    own.set(requestId, () => {
      own.delete(requestId);
      release();
    });
    worker.send({ kopeck: 'image_lock', state: 'granted', requestId }, () => {});
  };
}
