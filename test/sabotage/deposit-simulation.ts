import type { Sabotage } from './sabotage.ts';

const simulation = { test: 'test/simulation/simulation.test.ts', failingTitle: 'whatever goes wrong' };
const reconciling = { file: 'src/deposits/reconcile.ts', test: 'test/deposits/reconcile.test.ts' };

/** Guards of deposits whose absence the seeds of `npm test` find, and guards of their reconciliation. */
export const depositSimulationSabotages: Sabotage[] = [
  {
    guard: 'one lying node of two, in the simulation',
    ...simulation,
    file: 'src/deposits/watch/read-range.ts',
    pattern: /describeAll\(other\.transfers\) !== describeAll\(first!\.transfers\)/,
    replacement: 'false',
  },
  {
    guard: 'screening before a credit, in the simulation',
    ...simulation,
    file: 'src/deposits/watch/book.ts',
    pattern: /isScreened \? 'screening' : 'accumulating'/,
    replacement: `'accumulating'`,
  },
  {
    guard: 'hold of the screening service, in the simulation',
    ...simulation,
    file: 'src/deposits/screening/screen-deposits.ts',
    pattern: /const isAllowed = answer === 'allow'/,
    replacement: 'const isAllowed = answer.length > 0',
  },
  {
    guard: 'only held deposits are decided on, in the simulation',
    ...simulation,
    file: 'src/deposits/decide.ts',
    pattern: /if \(state !== 'held'\) return 'not_held';/,
  },
  {
    guard: 'amounts of a day of deposits',
    ...reconciling,
    pattern: /chainUnits !== recordedUnits/,
    replacement: 'false',
    failingTitle: 'every kind of discrepancy',
  },
  {
    guard: 'credits of a day of deposits',
    ...reconciling,
    pattern: /else if \(!is_in_ledger\)/,
    replacement: 'else if (false)',
    failingTitle: 'every kind of discrepancy',
  },
  {
    guard: 'deposits of a day that were missed',
    ...reconciling,
    pattern: /of missing\.values\(\)\)/,
    replacement: 'of [...missing.values()].slice(missing.size))',
    failingTitle: 'every kind of discrepancy',
  },
];
