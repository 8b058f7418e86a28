import type { Sabotage } from './sabotage.ts';

/** Guards of shards on Citus. */
export const citusSabotages: Sabotage[] = [
  {
    guard: 'late copies change nothing',
    file: 'database/citus/functions/copies_write.sql',
    pattern: /IF \(state\.incarnation, state\.version\) >= .*/,
    replacement: '',
    test: 'test/citus/copies.test.ts',
    failingTitle: 'a state that was read before the stop',
  },
  {
    guard: 'copies older than ten seconds open nothing',
    file: 'database/citus/functions/payments_open.sql',
    pattern: /interval '10 s'/,
    replacement: "interval '10 days'",
    test: 'test/citus/copies.test.ts',
    failingTitle: 'without a confirmation of the last ten seconds',
  },
  {
    guard: 'copies count from before the originals were read',
    file: 'src/db/shards/copies.ts',
    pattern: /originals\.version, now,/,
    replacement: 'originals.version, new Date(),',
    test: 'test/citus/copies.test.ts',
    failingTitle: 'copies count from before the originals were read',
  },
  {
    guard: 'the stop of an operator is brought at once',
    file: 'src/controls/maintenance.ts',
    pattern: /return bringCopies\(audit\.pool\);/,
    replacement: 'return [];',
    test: 'test/citus/copies.test.ts',
    failingTitle: 'a stop by an operator is obeyed',
  },
  {
    guard: 'event numbers of accounts jump after a loss',
    file: 'database/functions/incarnation_begin.sql',
    pattern: /CONTINUE WHEN NOT EXISTS \(SELECT FROM pg_attribute/,
    replacement: 'CONTINUE WHEN true OR NOT EXISTS (SELECT FROM pg_attribute',
    test: 'test/citus/numbers.test.ts',
    failingTitle: 'after a loss, numbers of a shard on Citus go on after a jump',
  },
];
