import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../base/clock.ts';
import type { Pool } from '../db/postgres/index.ts';

/** Measures the connections of these pools, and the waits for one. A statement that finds one free is not measured. */
export function measurePools(registry: Registry, clock: Clock, pools: Record<string, Pool>): void {
  const registers = [registry];
  new Gauge({
    name: 'kopeck_pool_connections',
    help: 'Connections to the database, and statements that wait for one',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [name, { totalCount, idleCount, waitingCount }] of Object.entries(pools)) {
        this.set({ pool: name, state: 'busy' }, totalCount - idleCount);
        this.set({ pool: name, state: 'idle' }, idleCount);
        this.set({ pool: name, state: 'waiting' }, waitingCount);
      }
    },
  });
  const waits = new Histogram({
    name: 'kopeck_pool_wait_seconds',
    help: 'How long statements waited for a connection, if none was free',
    labelNames: ['pool'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 3, 8],
    registers,
  });
  for (const [name, pool] of Object.entries(pools)) {
    waits.zero({ pool: name });
    const series = waits.labels(name);
    onWait(pool, clock, ms => series.observe(ms / 1_000));
  }
}

/** The pool takes every connection by `connect`, with a callback or without. */
function onWait(pool: Pool, clock: Clock, observe: (ms: number) => void): void {
  const connect = pool.connect.bind(pool) as (done?: (...result: unknown[]) => void) => unknown;
  const isFree = () => pool.idleCount > 0 || pool.totalCount < pool.options.max;
  pool.connect = ((done?: (...result: unknown[]) => void) => {
    if (isFree()) return connect(done);
    const startedMs = clock.monotonicMs();
    const end = () => observe(clock.monotonicMs() - startedMs);
    if (!done) return (connect() as Promise<unknown>).finally(end);
    return connect((...result) => {
      end();
      done(...result);
    });
  }) as typeof pool.connect;
}
