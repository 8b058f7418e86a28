import { createHash } from 'node:crypto';
import type { RunResult } from './run.ts';

/** The same for two runs with the same trace. */
export const describeRun = ({ seed, steps, trace }: RunResult) =>
  `seed ${seed}: ${steps} steps, trace ${createHash('sha256').update(trace.join('\n')).digest('hex').slice(0, 16)}`;

/** The trace of a failed run and the command that repeats it. */
export const describeFailure = ({
  seed,
  maxPayments,
  keepsHistory,
  violation,
  trace,
  isScripted,
}: RunResult) =>
  [
    ...trace,
    '',
    `Seed ${seed} breaks the rule: ${violation!.rule}`,
    `  ${violation!.detail}`,
    isScripted
      ? 'Again: run this test alone.'
      : `Again: npm run simulate -- --seed ${seed} --max-payments ${maxPayments}${keepsHistory ? ' --keeps-history' : ''}`,
  ].join('\n');
