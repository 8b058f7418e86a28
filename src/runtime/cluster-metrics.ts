import type { Worker } from 'node:cluster';
import { AggregatorRegistry } from 'prom-client';
import { systemClock } from '../base/clock.ts';
import { isMessage, type Metrics } from './cluster-channel.ts';

/** A process that has not answered by then is left out. */
const timeoutMs = 1_000;

let requests = 0;

/** The metrics of all these processes, added up, as Prometheus reads them. One of them reads those of the database. */
export async function readClusterMetrics(workers: Worker[]): Promise<string> {
  const metrics = await Promise.all(workers.map((worker, index) => readMetrics(worker, index === 0)));
  return AggregatorRegistry.aggregate(metrics).metrics();
}

function readMetrics(worker: Worker, withDatabase: boolean): Promise<Metrics> {
  const requestId = requests++;
  return new Promise(resolve => {
    const end = (metrics: Metrics) => {
      cancelTimeout();
      worker.off('message', onMessage);
      resolve(metrics);
    };
    const onMessage = (message: unknown) => {
      if (!isMessage(message) || message.kopeck !== 'metrics') return;
      if (message.requestId === requestId) end(message.metrics!);
    };
    const cancelTimeout = systemClock.timer(timeoutMs, () => end([]));
    worker.on('message', onMessage);
    worker.send({ kopeck: 'metrics', requestId, withDatabase }, () => {});
  });
}
