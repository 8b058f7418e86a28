import cluster from 'node:cluster';
import { once } from 'node:events';
import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import { systemClock } from '../base/clock.ts';
import { type Acquire, createMutex } from '../base/mutex.ts';
import type { Identity } from '../db/history/index.ts';
import type { OwnMetrics } from './metrics.ts';

/** What a process shares with the other processes of the same `kopeck start`. */
export interface ClusterChannel {
  /** The outbox may have events to send: the process that delivers to their partner reads it now. */
  announceEvents(): void;
  onEventsAnnounced(listener: () => void): void;
  /** Adds the metrics of this process to those of the service. */
  shareMetrics(own: OwnMetrics): void;
  /** Images take much memory: the processes decode one at a time. */
  acquireImageLock: Acquire;
}

export type Metrics = MetricObjectWithValues<MetricValue<string>>[];

/** Messages between the primary process and its workers; workers reach each other through the primary. */
export type Message =
  /** Worker to primary: the service runs, at this address if it listens. */
  | { kopeck: 'ready'; address: string | undefined }
  /** Worker to primary: it cannot start, and why, for the operator. */
  | { kopeck: 'failed'; line: string }
  /** Worker to primary, for the process that takes its place: the newest history that it has seen. */
  | { kopeck: 'history'; newest: Identity }
  /** Worker to primary, which relays it to all other workers: read the outbox now. */
  | { kopeck: 'events_ready' }
  /** Worker to primary: it wants to read an image, and has read it; primary to worker in between: it may. */
  | { kopeck: 'image_lock'; requestId: number; state: 'requested' | 'granted' | 'released' }
  /** Primary to worker: a request for its metrics, of one also for those of the database; and back, with the metrics. */
  | { kopeck: 'metrics'; requestId: number; withDatabase: boolean; metrics?: Metrics };

export const isMessage = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && 'kopeck' in value;

/** The channel of a service that is one process. */
export function createSingleProcess(): ClusterChannel & { readMetrics(): Promise<string> } {
  let metrics: OwnMetrics | undefined;
  return {
    announceEvents: () => {},
    onEventsAnnounced: () => {},
    shareMetrics: own => {
      metrics = own;
    },
    acquireImageLock: createMutex(),
    readMetrics: async () =>
      metrics ? `${await metrics.process.metrics()}\n${await metrics.database.metrics()}` : '',
  };
}

/** However many payments finish at once, one announcement per interval is enough. */
const announceIntervalMs = 20;

/** The channel of a worker process. */
export function joinCluster(send: (message: Message) => void): ClusterChannel {
  let isAnnouncementDue = false;
  let own: OwnMetrics | undefined;
  let onEvents = () => {};
  let requests = 0;
  const waiting = new Map<number, () => void>();
  // Without the primary nobody grants the lock. This process ends soon, and its own readers go on one after the other.
  process.once('disconnect', () => {
    for (const proceed of waiting.values()) proceed();
  });

  process.on('message', async message => {
    if (!isMessage(message)) return;
    if (message.kopeck === 'events_ready') onEvents();
    if (message.kopeck === 'image_lock') waiting.get(message.requestId)?.();
    if (message.kopeck === 'metrics')
      send({ ...message, metrics: own ? await readOwn(own, message.withDatabase) : [] });
  });

  return {
    announceEvents: () => {
      if (isAnnouncementDue) return;
      isAnnouncementDue = true;
      systemClock.timer(announceIntervalMs, () => {
        isAnnouncementDue = false;
        send({ kopeck: 'events_ready' });
      });
    },
    onEventsAnnounced: listener => {
      onEvents = listener;
    },
    shareMetrics: given => {
      own = given;
    },
    acquireImageLock: async () => {
      const requestId = ++requests;
      const { promise, resolve } = Promise.withResolvers<void>();
      if (process.connected) waiting.set(requestId, resolve);
      else resolve();
      send({ kopeck: 'image_lock', requestId, state: 'requested' });
      await promise;
      waiting.delete(requestId);
      return () => send({ kopeck: 'image_lock', requestId, state: 'released' });
    },
  };
}

/** Ends this worker: the open channel to the primary would keep it alive. */
export async function leaveCluster(): Promise<void> {
  if (process.connected) {
    const disconnected = once(process, 'disconnect');
    cluster.worker!.disconnect();
    await disconnected;
  }
  process.exit();
}

async function readOwn({ process, database }: OwnMetrics, withDatabase: boolean): Promise<Metrics> {
  const registries = withDatabase ? [process, database] : [process];
  const sets = await Promise.all(registries.map(registry => registry.getMetricsAsJSON()));
  return sets.flat() as Metrics;
}
