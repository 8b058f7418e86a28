import type { Registry } from 'prom-client';
import type { Clock } from '../base/clock.ts';
import type { BatchObserver } from '../db/batching/index.ts';
import type { Mode } from '../ledger/index.ts';
import { createSeries, type Span, type TraceContext, type Tracer } from '../telemetry/index.ts';
import type { PaymentTraces } from './traces.ts';

export interface PhaseDeps {
  /** Undefined: nothing is measured. */
  paymentMetrics?: PaymentMetrics;
  /** Undefined: nothing is traced. */
  tracer?: Tracer | undefined;
  paymentTraces?: PaymentTraces | undefined;
}

/** Does the work of a phase and measures how long it takes, also if it fails; in a trace, as a span that it gets. */
export async function inPhase<Result>(
  { clock, paymentMetrics, tracer }: PhaseDeps & { clock: Clock },
  { mode, trace }: { mode: Mode; trace?: TraceContext | undefined },
  phase: Phase,
  work: (trace?: TraceContext) => Promise<Result>,
): Promise<Result> {
  const startedMs = clock.monotonicMs();
  const span = trace && tracer?.start(`payment ${phase}`, { parent: trace });
  let error: string | undefined = 'failed';
  try {
    const result = await work(span?.context);
    error = undefined;
    return result;
  } finally {
    span?.end(error);
    paymentMetrics?.observePhase(mode, phase, clock.monotonicMs() - startedMs);
  }
}

/** How a payment has ended by this statement; undefined if it has not. */
type Outcome = { mode: Mode; outcome: 'succeeded' | 'failed'; code: string } | undefined;

/** Measures and traces the batches of a statement: the span of a batch is linked to those of its payments. */
export function observeBatches<Item extends { trace?: TraceContext | undefined }, Result>(
  { clock, paymentMetrics, tracer }: PhaseDeps & { clock: Clock },
  statement: 'open' | 'finish',
  outcomeOf: (item: Item, result: Result) => Outcome,
): BatchObserver<Item, Result> {
  function startSpan(items: Item[]): Span | undefined {
    const links = tracer ? items.flatMap(({ trace }) => (trace?.isSampled ? trace : [])) : [];
    if (links.length === 0) return undefined;
    return tracer?.start(`batch ${statement}`, { links, attributes: { 'kopeck.batch_size': items.length } });
  }
  return {
    clock,
    onBatch: (size, waitedMs) => paymentMetrics?.observeBatch(statement, size, waitedMs),
    onStart: items => {
      const span = startSpan(items);
      return results => {
        span?.end(results ? undefined : 'failed');
        for (const [index, result] of results?.entries() ?? []) {
          const ended = outcomeOf(items[index]!, result);
          if (ended) paymentMetrics?.countOutcome(ended.mode, ended.outcome, ended.code);
        }
      };
    },
  };
}

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
