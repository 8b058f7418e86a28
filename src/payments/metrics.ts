import type { Registry } from 'prom-client';
import type { Mode } from '../ledger/index.ts';
import { createSeries } from '../telemetry/index.ts';

/** The steps of a payment that wait for something: the gateway, or a statement. */
export type Phase = 'resolve' | 'open' | 'gateway' | 'finish';

export type PaymentMetrics = ReturnType<typeof createPaymentMetrics>;

const phaseBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** What a process measures of the payments that pass through it. */
export function createPaymentMetrics(registry: Registry) {
  const { counter, histogram } = createSeries(registry);
  const outcomes = counter({
    name: 'kopeck_payments_total',
    help: 'Payments that ended, and refused requests for one',
    labelNames: ['mode', 'outcome', 'code'],
  });
  const phases = histogram({
    name: 'kopeck_payment_phase_seconds',
    help: 'Time of a payment in each phase',
    labelNames: ['mode', 'phase'],
    buckets: phaseBuckets,
  });
  const sizes = histogram({
    name: 'kopeck_batch_size',
    help: 'Payments that shared one statement and one commit',
    labelNames: ['statement'],
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
  });
  const waits = histogram({
    name: 'kopeck_batch_wait_seconds',
    help: 'How long the oldest payment of a batch waited for its statement',
    labelNames: ['statement'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 3],
  });
  return {
    /** A payment that the partner can see ended, or a request for one was refused. */
    countOutcome: (mode: Mode, outcome: 'succeeded' | 'failed' | 'refused', code: string) =>
      outcomes(mode, outcome, code).inc(),
    observePhase: (mode: Mode, phase: Phase, ms: number) => phases(mode, phase).observe(ms / 1_000),
    observeBatch: (statement: 'open' | 'finish', size: number, waitedMs: number) => {
      sizes(statement).observe(size);
      waits(statement).observe(waitedMs / 1_000);
    },
  };
}
