import type { Clock } from '../base/clock.ts';
import type { QuoteLockSettings } from '../base/quote-settings.ts';
import { createPartnerReads, openReadPool, type Pool, type Queryable } from '../db/postgres/index.ts';
import { createRateMemo } from '../rates/index.ts';
import { createOutcomeWaiters } from './create/outcome-waiters.ts';
import type { PhaseDeps } from './phases.ts';
import { createQuoteLocker } from './quotes/locker.ts';
import { createLeaseRelease } from './recovery/lease-release.ts';
import type { PaymentSignals } from './signals.ts';
import { createPaymentWriter } from './store.ts';
import { createPaymentTraces } from './traces.ts';

interface PaymentPartsDeps extends Omit<PhaseDeps, 'paymentTraces'> {
  pool: Pool;
  /** The pool behind its circuit breaker. */
  db: Queryable;
  clock: Clock;
  signals: PaymentSignals;
  heartbeat: { instance: number; isDatabaseAnswering(): boolean };
  testPaymentsPerDay?: number;
  quoteLock: QuoteLockSettings;
}

/** What a process has for payments. */
export function createPaymentParts(deps: PaymentPartsDeps) {
  const { pool, db, clock, heartbeat, signals, paymentMetrics, tracer } = deps;
  const readPool = openReadPool(pool);
  const paymentTraces = tracer && createPaymentTraces(db, clock, tracer);
  const observers = { tracer, paymentTraces, ...(paymentMetrics ? { paymentMetrics } : {}) };
  const leaseRelease = createLeaseRelease(db, clock, heartbeat.instance);
  return {
    /** For the routes that only read: a partner's reads take no connection from payments, nor from other partners. */
    reads: createPartnerReads(readPool, clock, heartbeat.isDatabaseAnswering),
    readPool,
    writer: createPaymentWriter(db, clock, deps, observers),
    quoteLocker: createQuoteLocker(db, clock, deps.quoteLock),
    leaseRelease,
    outcomeWaiters: createOutcomeWaiters(db, clock, signals),
    paymentTraces,
    rateMemo: createRateMemo(db),
    close: async () => {
      await leaseRelease.stop();
      await readPool.end();
    },
  };
}
