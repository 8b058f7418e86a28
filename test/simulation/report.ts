import type { RunResult } from './run.ts';

/** What somebody needs who wants to know why. */
export const describeFailure = ({ seed, violation, trace }: RunResult) =>
  [
    ...trace,
    '',
    `Seed ${seed} breaks the rule: ${violation!.rule}`,
    `  ${violation!.detail}`,
    `Again: npm run simulate -- --seed ${seed}`,
  ].join('\n');
