import type { Sabotage } from './sabotage.ts';

const answers = { test: 'test/payments/archive.test.ts' };
const guards = { test: 'test/payments/archive-guards.test.ts' };
const onCitus = { test: 'test/citus/history-reads.test.ts' };
const moves = { test: 'test/citus/history-move.test.ts' };
const leaving = { ...guards, file: 'database/functions/refuse_unarchived.sql' };

/** Guards of the archive: nothing gets lost on the way there, and nothing that is there is paid or credited again. */
export const archiveSabotages: Sabotage[] = [
  {
    guard: 'keys of archived payments, of payments opened together',
    ...answers,
    file: 'database/functions/payments_open.sql',
    pattern: /FROM archived_keys k WHERE k\.idempotency_key = o\.idempotency_key/,
    replacement: 'FROM archived_keys k WHERE false',
    failingTitle: 'when the month is dropped, its keys still pay nothing',
  },
  {
    guard: 'keys of archived payments',
    ...answers,
    file: 'database/functions/payments_open_singly.sql',
    pattern: /FROM archived_keys k WHERE k\.idempotency_key = o\.idempotency_key/,
    replacement: 'FROM archived_keys k WHERE false',
    failingTitle: 'the key of an archived payment opens no other',
  },
  {
    guard: 'references of archived credits',
    ...answers,
    file: 'database/functions/ledger_post.sql',
    pattern: /WHERE r\.reference = i\.reference/,
    replacement: 'WHERE false',
    failingTitle: 'a reference is credited once',
  },
  {
    guard: 'only archived rows leave',
    ...guards,
    file: 'database/migrations/0009_archive.sql',
    replacement: 'DROP TRIGGER payments_leave_for_the_archive ON payments;',
    failingTitle: 'payments without a copy of the payments',
  },
  {
    guard: 'verification of the copy before the deletion',
    ...leaving,
    pattern: / AND NOT a\.c IS DISTINCT FROM g\)\n\s+OR NOT g\.rejected/,
    replacement: ') OR NOT g.rejected',
    failingTitle: 'payments when the copy differs',
  },
  {
    guard: 'no payment leaves without its key',
    ...leaving,
    pattern: /OR NOT g\.rejected AND NOT EXISTS/,
    replacement: 'OR false AND NOT EXISTS',
    failingTitle: 'payments without a copy of the keys',
  },
  {
    guard: 'the hold of an unfinished payment stays',
    ...answers,
    file: 'database/functions/archivable_entries.sql',
    pattern: /min\(e\.entry_no\) - 1/,
    replacement: 'max(e.entry_no) + 1000',
    failingTitle: 'what is unfinished or undelivered stays',
  },
  {
    guard: 'undelivered events stay',
    ...answers,
    file: 'database/migrations/0009_archive.sql',
    pattern: /JOIN deliveries d ON d\.partner_id = e\.partner_id/,
    replacement: 'JOIN deliveries d ON false',
    failingTitle: 'what is unfinished or undelivered stays',
  },
  {
    guard: 'append-only archive',
    ...guards,
    file: 'database/migrations/0013_test_checkpoints.sql',
    replacement: 'DROP TRIGGER payments_archive_is_append_only ON payments_archive;',
    failingTitle: 'it is append-only: UPDATE payments_archive',
  },
  {
    guard: 'digests of the archive',
    ...guards,
    file: 'src/ledger/archive-invariants.ts',
    pattern: /\(s\.rows, s\.digest\) IS DISTINCT FROM \(f\.rows, f\.digest\)/,
    replacement: 's.rows IS DISTINCT FROM f.rows',
    failingTitle: 'tampering with payments_archive is found: UPDATE',
  },
  {
    guard: 'what is live is not read from the archive on Citus',
    ...onCitus,
    file: 'database/functions/entries_between.sql',
    pattern:
      /least\(up_to, \(SELECT min\(e\.entry_no\) - 1 FROM entries e\s+WHERE e\.partner_id = partner AND e\.mode = in_mode\)\)/,
    replacement: 'up_to',
    failingTitle: 'a run that was killed after a copy',
  },
  {
    guard: 'on Citus only rows with a copy are deleted',
    ...onCitus,
    file: 'src/payments/archive/archive.ts',
    pattern: /if \(isDistributed\)\s+await db\.query\(\{\s+text: 'SELECT archive_copy_payments/,
    replacement: "if (false) await db.query({ text: 'SELECT archive_copy_payments",
    failingTitle: 'a worker with a full disk',
  },
  {
    guard: 'rows on the workers are compared once more',
    ...moves,
    file: 'src/payments/archive/distribute/distribute.ts',
    pattern: /verified \+= await verifyPartition\(pool, partition\);/,
    replacement: 'verified += partition.name.length;',
    failingTitle: 'while it runs, payments and reads go on',
  },
  {
    guard: 'only a whole copy takes the place of the local archive',
    ...moves,
    file: 'src/payments/archive/distribute/swap.ts',
    pattern: /if \(\(await countMissing\(tx\)\) > 0\) return false;/,
    replacement: '',
    failingTitle: 'while it runs, payments and reads go on',
  },
];
