import type { Clock } from '../base/clock.ts';
import type { LockWait } from '../db/batching/index.ts';
import type { Mode } from '../ledger/index.ts';
import type { TraceContext } from '../telemetry/index.ts';
import type { PhaseDeps } from './phases.ts';

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
  const traced: Run<Item, Result> = async (items, lockWait) => {
    const links = tracer ? items.flatMap(({ trace }) => (trace?.isSampled ? trace : [])) : [];
    if (links.length === 0) return run(items, lockWait);
    const attributes = { 'kopeck.batch_size': items.length };
    const span = tracer!.start(`batch ${statement}`, { links, attributes });
    try {
      const results = await run(items, lockWait);
      span.end();
      return results;
    } catch (error) {
      span.end('failed');
      throw error;
    }
  };
  if (!paymentMetrics) return { run: traced };
  return {
    run: async (items: Item[], lockWait: LockWait) => {
      const results = await traced(items, lockWait);
      for (const [index, item] of items.entries()) {
        const ended = outcomeOf(item, results[index]!);
        if (ended) paymentMetrics.countOutcome(ended.mode, ended.outcome, ended.code);
      }
      return results;
    },
    waits: {
      clock,
      onBatch: (size: number, waitedMs: number) => paymentMetrics.observeBatch(statement, size, waitedMs),
    },
  };
}
