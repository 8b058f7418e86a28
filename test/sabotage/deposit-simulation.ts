import type { Sabotage } from './sabotage.ts';

const chains = { test: 'test/simulation/chains.test.ts', failingTitle: 'whatever chains and their nodes do' };
const reading = { ...chains, file: 'src/deposits/watch/read-range.ts' };
const booking = { ...chains, file: 'src/deposits/watch/book.ts' };
const reconciling = { file: 'src/deposits/reconcile.ts', test: 'test/deposits/watchers.test.ts' };

/** Guards of deposits whose absence the seeds of `npm test` find, and guards of their reconciliation. */
export const depositSimulationSabotages: Sabotage[] = [
  {
    guard: 'one lying node of two, in the simulation',
    ...reading,
    pattern: /!areSame\(readByAll\(other\.transfers\), transfers\)/,
    replacement: 'false',
  },
  {
    guard: 'a transfer is known by its place in its transaction, in the simulation',
    ...reading,
    pattern: /ordinal: isFirst \? 0 : before\.ordinal \+ 1/,
    replacement: 'ordinal: log.logIndex',
  },
  {
    guard: 'a log that is given twice is refused, in the simulation',
    ...reading,
    pattern: /!isFirst && before\.logIndex === log\.logIndex/,
    replacement: 'false',
  },
  {
    guard: 'what is worth nothing is left out, in the simulation',
    ...reading,
    pattern: /amountOf\(log\.units, decimals\)\.microUsdt > 0n/,
    replacement: 'true',
  },
  {
    guard: 'what comes after its transaction was booked is held, in the simulation',
    ...booking,
    pattern: /isLate \? 'late' : null/,
    replacement: 'null',
  },
  {
    guard: 'final deposits never change, in the simulation',
    ...booking,
    pattern: /WHERE d\.final_at IS NULL AND /,
    replacement: 'WHERE ',
  },
  {
    guard: 'screening before a credit, in the simulation',
    ...booking,
    pattern: /isScreened \? 'screening' : 'accumulating'/,
    replacement: `'accumulating'`,
  },
  {
    guard: 'the cursor passes only what is reported as unread, in the simulation',
    ...chains,
    file: 'src/deposits/watch/round.ts',
    pattern: /await reportUnread\(deps, accounts, range\.unread\);\n([^;]*;)/,
    replacement: '$1 await reportUnread(deps, accounts, range.unread);',
  },
  {
    guard: 'a range follows the block of the cursor when it is read, in the simulation',
    ...chains,
    file: 'src/deposits/watch/round.ts',
    pattern: /await refuseReplaced\(chain, cursor\);\n(?=\s*await reportUnread)/,
  },
  {
    guard: 'a locked account delays no other partner, in the simulation',
    ...chains,
    file: 'src/deposits/credit.ts',
    pattern: /\.catch\(error =>\s*failures\.push\(error\),?\s*\)/,
  },
  {
    guard: 'hold of the screening service, in the simulation',
    ...chains,
    file: 'src/deposits/screening/screen-deposits.ts',
    pattern: /const isAllowed = answer === 'allow'/,
    replacement: 'const isAllowed = answer.length > 0',
  },
  {
    guard: 'only held deposits are decided on, in the simulation',
    ...chains,
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
