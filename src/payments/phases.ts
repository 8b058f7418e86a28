import type { Clock } from '../base/clock.ts';
import type { LockWait } from '../db/batching/index.ts';
import type { Mode } from '../ledger/index.ts';
import type { Span, TraceContext, Tracer } from '../telemetry/index.ts';
import type { PaymentMetrics, Phase } from './metrics.ts';
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
  try {
    return await inSpan(span, () => work(span?.context));
  } finally {
    paymentMetrics?.observePhase(mode, phase, clock.monotonicMs() - startedMs);
  }
}

/** Ends the span with the work; with an error if the work fails. */
async function inSpan<Result>(span: Span | undefined, work: () => Promise<Result>): Promise<Result> {
  let error: string | undefined = 'failed';
  try {
    const result = await work();
    error = undefined;
    return result;
  } finally {
    span?.end(error);
  }
}

type Run<Item, Result> = (items: Item[], lockWait: LockWait) => Promise<Result[]>;

/** How a payment has ended by this statement; undefined if it has not. */
type Outcome = { mode: Mode; outcome: 'succeeded' | 'failed'; code: string } | undefined;

/** Measures and traces the batches of a statement: the span of a batch is linked to those of its payments. */
export function observeBatches<Item extends { trace?: TraceContext | undefined }, Result>(
  { clock, paymentMetrics, tracer }: PhaseDeps & { clock: Clock },
  statement: 'open' | 'finish',
  run: Run<Item, Result>,
  outcomeOf: (item: Item, result: Result) => Outcome,
) {
  function startSpan(items: Item[]): Span | undefined {
    const links = tracer ? items.flatMap(({ trace }) => (trace?.isSampled ? trace : [])) : [];
    if (links.length === 0) return undefined;
    return tracer?.start(`batch ${statement}`, { links, attributes: { 'kopeck.batch_size': items.length } });
  }
  const observed: Run<Item, Result> = async (items, lockWait) => {
    const results = await inSpan(startSpan(items), () => run(items, lockWait));
    for (const [index, item] of items.entries()) {
      const ended = outcomeOf(item, results[index]!);
      if (ended) paymentMetrics?.countOutcome(ended.mode, ended.outcome, ended.code);
    }
    return results;
  };
  const onBatch = (size: number, waitedMs: number) => paymentMetrics?.observeBatch(statement, size, waitedMs);
  return { run: observed, waits: { clock, onBatch } };
}
