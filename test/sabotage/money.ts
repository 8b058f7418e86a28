import type { Sabotage } from './sabotage.ts';

const baseline = { file: 'database/migrations/0001_baseline.sql', test: 'test/ledger/guards.test.ts' };
const posting = { ...baseline, file: 'database/functions/ledger_post.sql' };
const finishing = { file: 'database/functions/payments_finish.sql' };
const recovery = { test: 'test/payments/recovery.test.ts' };

/** Guards of the ledger and of payments. */
export const moneySabotages: Sabotage[] = [
  { guard: 'row lock', ...posting, pattern: / FOR UPDATE/, failingTitle: 'row lock:' },
  { guard: 'lock order', ...posting, pattern: / ORDER BY 1, 2/, failingTitle: 'sort order:' },
  {
    guard: 'idempotency of holds',
    ...posting,
    pattern: /ELSIF held IS NOT NULL THEN/,
    replacement: 'ELSIF false THEN',
    failingTitle: 'idempotency:',
  },
  {
    guard: 'balance check of holds',
    ...posting,
    pattern: /book\.available < amount/,
    replacement: 'false',
    failingTitle: 'two hundred holds',
  },
  {
    guard: 'entry times never go back',
    ...posting,
    pattern: /greatest\(at, book\.last_entry_at\)/,
    replacement: 'at',
    failingTitle: 'times never go back',
  },
  {
    guard: 'non-negative balances',
    ...baseline,
    replacement: 'ALTER TABLE accounts DROP CONSTRAINT accounts_never_below_zero;',
    failingTitle: 'non-negative check:',
  },
  {
    guard: 'zero sum of accounts',
    ...baseline,
    replacement: 'ALTER TABLE accounts DROP CONSTRAINT accounts_sum_to_zero;',
    failingTitle: 'zero sum:',
  },
  {
    guard: 'unique entries per payment',
    ...baseline,
    replacement: 'DROP INDEX entries_once_per_payment;',
    failingTitle: 'idempotency index: a second hold',
  },
  {
    guard: 'unique entries per reference',
    ...baseline,
    replacement: 'DROP INDEX entries_once_per_reference;',
    failingTitle: 'idempotency index: a second credit',
  },
  {
    guard: 'append-only entries',
    ...baseline,
    replacement: 'DROP TRIGGER entries_are_append_only ON entries;',
    failingTitle: 'append-only: UPDATE',
  },
  {
    guard: 'append-only audit',
    ...baseline,
    replacement: 'DROP TRIGGER audit_is_append_only ON audit;',
    failingTitle: 'append-only: DELETE',
  },
  {
    guard: 'finish only while processing',
    ...finishing,
    ...recovery,
    pattern: / AND p\.status = 'processing'\n/,
    replacement: '\n',
    failingTitle: 'an answer, a poller',
  },
  {
    guard: 'unique open QR code',
    file: baseline.file,
    replacement: 'ALTER TABLE open_payments DROP CONSTRAINT open_payments_pkey;',
    test: 'test/api/races.test.ts',
    failingTitle: 'the same code from two partners',
  },
  {
    guard: 'void before release',
    file: 'src/payments/recovery/poll-payment.ts',
    pattern: /await deps\.gateway\.void\(payment\)/,
    replacement: "({ outcome: 'voided' } as const)",
    test: 'test/api/live.test.ts',
    failingTitle: 'a late order meets the void',
  },
  {
    guard: 'hold before the gateway call',
    file: 'src/payments/create/create.ts',
    pattern: /const opened = await openPayment/,
    replacement:
      "if (caller.mode === 'live') void deps.gateway.pay(payment);\n  const opened = await openPayment",
    test: 'test/api/live.test.ts',
    failingTitle: 'the answer is lost',
  },
  {
    guard: 'poll with the stored payment id',
    file: 'src/payments/recovery/poll-payment.ts',
    pattern: /deps\.gateway\.poll\(payment\)/,
    replacement:
      "deps.gateway.poll({ ...payment, paymentId: payment.paymentId.replace(/.$/, '0') as 'pay_0' })",
    test: 'test/api/live.test.ts',
    failingTitle: 'it is polled after 2, 5, 10',
  },
  {
    guard: 'order on record',
    ...finishing,
    ...recovery,
    pattern: /p\.gateway_order_id IS NULL OR CASE/,
    replacement: 'true OR CASE',
    failingTitle: 'ends nothing when the gateway says',
  },
  {
    guard: 'event in the transaction of the end',
    ...finishing,
    ...recovery,
    pattern: /INSERT INTO events \([^)]*\)\n.*?;/,
    failingTitle: 'an answer, a poller',
  },
  {
    guard: 'fail-over from dead processes',
    file: 'src/payments/recovery/recover.ts',
    ...recovery,
    pattern: /if \(dead\.length > 0\)/,
    replacement: 'if (false)',
    failingTitle: 'leaves its payments to the others',
  },
  {
    guard: 'request hash without the host',
    file: 'src/payments/create/request.ts',
    pattern: /\{ code \}, request\)/,
    replacement: 'request.qrUrl, request)',
    test: 'test/api/idempotency-hosts.test.ts',
    failingTitle: 'with another form of the link',
  },
  {
    guard: 'request hashes of earlier versions',
    file: 'src/payments/create/request.ts',
    pattern: / \|\| requestHash\.equals\(hashWithHostOf\(qrUrl, request\)\)/,
    test: 'test/api/idempotency-hosts.test.ts',
    failingTitle: 'web.qr.nspk.ru is recognised',
  },
  {
    guard: 'a limit of the server is the fault of one item',
    file: 'src/db/pool.ts',
    pattern: /\|54\)/,
    replacement: ')',
    test: 'test/payments/batches.test.ts',
    failingTitle: 'a text that no index can hold',
  },
  {
    guard: 'isolation level of every session',
    file: 'src/db/pool.ts',
    pattern: /'-c default_transaction_isolation=.*',/,
    test: 'test/db/session-settings.test.ts',
    failingTitle: 'payments made at once succeed',
  },
];
