import type { RunResult } from './run.ts';

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
