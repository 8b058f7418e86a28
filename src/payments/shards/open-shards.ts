import type { Clock } from '../../base/clock.ts';
import type { QuoteLockSettings } from '../../base/quote-settings.ts';
import { createPartnerReads, openReadPool, type PartnerReads } from '../../db/outside-pools.ts';
import type { Pool, Queryable } from '../../db/pool.ts';
import {
  type AvailabilityOptions,
  reportsUnreachable,
  type ShardAvailability,
  watchShards,
} from '../../db/shards/availability.ts';
import type { NodeChangedError } from '../../db/shards/node-history.ts';
import { watchNodes } from '../../db/shards/node-watch.ts';
import type { NodePool } from '../../db/shards/nodes.ts';
import { openShardPools } from '../../db/shards/pools.ts';
import { type Shards, shardsOf } from '../../db/shards/shards.ts';
import { createOutcomeWaiters, type OutcomeWaiters } from '../create/outcome-waiters.ts';
import type { PhaseDeps } from '../phases.ts';
import { createQuoteLocker, type QuoteLocker } from '../quotes/locker.ts';
import { createLeaseRelease, type LeaseRelease } from '../recovery/lease-release.ts';
import { createPaymentSignals, type PaymentSignals } from '../signals.ts';
import { createPaymentWriter, type PaymentWriter } from '../store.ts';
import { createPaymentTraces, type PaymentTraces } from '../traces.ts';
import { type CodeGuard, createCodeGuard } from './code-guard.ts';

/** What a process has for the payments of one shard. */
export interface Shard {
  number: number;
  pool: Pool;
  db: Queryable;
  /** Where its functions run and its logs are written: sessions on its worker, if it has one, otherwise those above. */
  node: Queryable;
  /** Its sessions on a worker of Citus; undefined if its tables are in the database of the general pool. */
  worker: NodePool | undefined;
  /** For the routes that only read: a partner's reads take no connection from payments, nor from other partners. */
  reads: PartnerReads;
  readPool: Pool;
  writer: PaymentWriter;
  quoteLocker: QuoteLocker;
  leaseRelease: LeaseRelease;
  outcomeWaiters: OutcomeWaiters;
  paymentTraces: PaymentTraces | undefined;
  /** Of its payments only: what works for the other shards is not woken. With one shard, those of the process. */
  signals: PaymentSignals;
}

interface ShardsDeps extends Omit<PhaseDeps, 'paymentTraces'> {
  /** The general pool. It knows how many shards there are. */
  pool: Pool;
  clock: Clock;
  signals: PaymentSignals;
  heartbeat: { instance: number; isDatabaseAnswering(): boolean };
  testPaymentsPerDay?: number;
  quoteLock: QuoteLockSettings;
  /** Of the sessions of a shard. */
  withCircuitBreaker?: (pool: Pool) => Queryable;
  onShardState?: AvailabilityOptions['onShardState'];
  /** For shards on Citus: the next incarnation must begin. */
  onNodeChanged?: (change: NodeChangedError) => Promise<void>;
}

export interface OpenShards extends Shards<Shard> {
  /** Undefined with one shard. */
  guard: CodeGuard | undefined;
  whyNot: ShardAvailability['whyNot'];
  close(): Promise<void>;
}

/** Opens the shards of the database. With one, its sessions are those of the general pool. */
export function openShards(deps: ShardsDeps): OpenShards {
  const { clock, heartbeat, paymentMetrics, tracer } = deps;
  const { pools, nodes, workers, close } = openShardPools(deps.pool);
  const { isDatabaseAnswering } = heartbeat;
  const { onShardState, onNodeChanged = async () => {} } = deps;
  const availability = watchShards(nodes, {
    clock,
    isDatabaseAnswering,
    ...(onShardState ? { onShardState } : {}),
  });
  const nodeWatch = watchNodes(workers, { clock, onNodeChanged });
  const whyNot = (shard: number) => nodeWatch.whyNot(shard) ?? availability.whyNot(shard);
  // Not by when its history was verified: after a pause of this process every code would be refused for a moment.
  const guard = pools.length > 1 ? createCodeGuard(pools, clock, nodes, availability.whyNot) : undefined;
  const withCircuitBreaker = (pool: Pool): Queryable => deps.withCircuitBreaker?.(pool) ?? pool;
  const shards = pools.map((pool, number): Shard => {
    const db = withCircuitBreaker(pool);
    const worker = workers.get(number);
    const node = worker ? withCircuitBreaker(worker.pool) : db;
    const readPool = pools.length > 1 ? reportsUnreachable(openReadPool(pool)) : openReadPool(pool);
    const signals = pools.length > 1 ? createPaymentSignals() : deps.signals;
    const paymentTraces = tracer && createPaymentTraces(node, clock, tracer);
    const observers = { tracer, paymentTraces, ...(paymentMetrics ? { paymentMetrics } : {}) };
    return {
      number,
      pool,
      db,
      node,
      worker,
      reads: createPartnerReads(readPool, clock, isDatabaseAnswering),
      readPool,
      writer: createPaymentWriter(node, clock, deps, observers, guard),
      // On the coordinator: its callers wait for each other, wherever the shard is.
      quoteLocker: createQuoteLocker(db, clock, deps.quoteLock, pools.length),
      leaseRelease: createLeaseRelease(node, clock, heartbeat.instance),
      outcomeWaiters: createOutcomeWaiters(node, clock, signals),
      paymentTraces,
      signals,
    };
  });
  return {
    ...shardsOf(shards, whyNot),
    guard,
    whyNot,
    close: async () => {
      await Promise.all([availability.stop(), nodeWatch.stop()]);
      await Promise.all(shards.map(({ leaseRelease }) => leaseRelease.stop()));
      await Promise.all(shards.map(({ readPool }) => readPool.end()));
      await close();
    },
  };
}
