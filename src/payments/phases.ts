import type { Clock } from '../base/clock.ts';
import type { Mode } from '../ledger/index.ts';
import type { TraceContext, Tracer } from '../telemetry/index.ts';
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
  let error: string | undefined = 'failed';
  try {
    const result = await work(span?.context);
    error = undefined;
    return result;
  } finally {
    paymentMetrics?.observePhase(mode, phase, clock.monotonicMs() - startedMs);
    span?.end(error);
  }
}
