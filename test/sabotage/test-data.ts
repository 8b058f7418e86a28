import type { Sabotage } from './sabotage.ts';

const guards = { test: 'test/payments/test-data-guards.test.ts' };
const load = { test: 'test/payments/test-data-load.test.ts' };
const leaving = { ...guards, file: 'database/functions/refuse_unarchived.sql' };
const archive = { ...guards, file: 'database/functions/refuse_unpruned.sql' };
const proof = { ...guards, file: 'database/functions/prove_checkpoint.sql' };

/** Guards of the pruning of test data: it touches no live row, and the ledger stays provable. */
export const testDataSabotages: Sabotage[] = [
  {
    guard: 'no live entry is pruned',
    ...leaving,
    pattern: /g\.mode = 'test' AND is_pruned_entry/,
    replacement: 'is_pruned_entry',
    failingTitle: 'not a live entry with a number up to the checkpoint',
  },
  {
    guard: 'no payment after the checkpoint is pruned',
    ...leaving,
    pattern: /is_pruned_payment\(g\.partner_id, g\.id\)/,
    replacement: 'true',
    failingTitle: 'not a test payment that ended after it',
  },
  {
    guard: 'no event after the checkpoint is pruned',
    ...leaving,
    pattern: /is_pruned_payment\(g\.partner_id, g\.payment_id\)/,
    replacement: 'true',
    failingTitle: 'not a test event after it',
  },
  {
    guard: 'holds that were open at the checkpoint stay',
    ...leaving,
    pattern: /AND c\.held <>/,
    replacement: 'AND 0 >',
    failingTitle: 'not a hold that was open at it',
  },
  {
    guard: 'no archived live row is pruned',
    ...archive,
    pattern: / AND OLD\.mode = 'test'/,
    failingTitle: 'not an archived live entry',
  },
  {
    guard: 'no archived row after the checkpoint is pruned',
    ...guards,
    file: 'database/functions/is_pruned_entry.sql',
    pattern: / AND c\.entry_no >= number/,
    failingTitle: 'not an archived test row after it',
  },
  {
    guard: 'a checkpoint does not go back',
    ...proof,
    pattern: /NEW\.entry_no <= above OR /,
    replacement: 'false OR ',
    failingTitle: 'its balances are not set by hand',
  },
  {
    guard: 'a checkpoint passes no fault',
    ...proof,
    pattern: / OR proof\.wrong > 0/,
    failingTitle: 'it does not pass a fault: a balance was changed',
  },
  {
    guard: 'a checkpoint passes no gap',
    ...proof,
    pattern: /proof\.entries \+ proof\.skipped <> NEW\.entry_no - above OR /,
    failingTitle: 'it is not beyond the last entry',
  },
  {
    guard: 'nothing of the last seven days is pruned',
    ...proof,
    test: 'test/payments/test-data.test.ts',
    pattern: /interval '7 days'/,
    replacement: "interval '0 days'",
    failingTitle: 'a wrong clock of a worker prunes nothing of the last seven days',
  },
  {
    guard: 'verification starts from the checkpoint',
    ...guards,
    file: 'src/ledger/checkpoints.ts',
    pattern: /total AS change, total AS after/,
    replacement: '0 AS change, 0 AS after',
    failingTitle: 'nothing without tampering',
  },
  {
    guard: 'verification of what is left up to a checkpoint',
    ...guards,
    file: 'src/ledger/verify.ts',
    pattern: / {2}\.\.\.checkpointInvariants,/,
    failingTitle: 'a hold that was removed',
  },
  {
    guard: 'no payment moves to the archive while it is pruned',
    ...load,
    file: 'database/functions/archive_payments.sql',
    pattern: /PERFORM wait_for_test_pruning\(\)/,
    replacement: 'NULL',
    failingTitle: 'a delivery in use, or a move to the archive',
  },
  {
    guard: 'no entry moves to the archive while it is pruned',
    ...load,
    file: 'database/functions/archive_entries.sql',
    pattern: /PERFORM wait_for_test_pruning\(\)/,
    replacement: 'NULL',
    failingTitle: 'a delivery in use, or a move to the archive',
  },
  {
    guard: 'one process prunes at a time',
    ...load,
    file: 'database/functions/prune_test_data.sql',
    pattern: /NOT pg_try_advisory_xact_lock\(7310861003\)/,
    replacement: 'false',
    failingTitle: 'a delivery in use, or a move to the archive',
  },
  {
    guard: 'no event is sent again while it is pruned',
    ...load,
    file: 'src/webhooks/admin/resend.ts',
    pattern: /SELECT wait_for_test_pruning\(\)/,
    replacement: 'SELECT',
    failingTitle: 'an event that is pruned while an operator sends it again',
  },
];
