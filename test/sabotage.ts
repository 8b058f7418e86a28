/**
 * Takes away one guard of money, events or access after another and checks that a test named after it goes red. Run it with
 * `npm run sabotage` after touching what moves money or sends events: a guard whose loss nobody notices is not guarded.
 * It works in a copy of the house; names of guards as arguments choose some of them.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { accessSabotages, type Sabotage } from './sabotage-access.ts';

const ledger = { file: 'database/migrations/0001_baseline.sql', test: 'test/ledger/guards.test.ts' };
/** Where the function that moves money stands as it is now. */
const posting = { ...ledger, file: 'database/functions/ledger_post.sql' };
const payments = { file: 'database/functions/payments_finish.sql' };
const recovery = { test: 'test/payments/recovery.test.ts' };
const approvals = { test: 'test/approvals/approvals.test.ts' };
const credits = { test: 'test/approvals/credit-and-thresholds.test.ts' };
const testClock = { test: 'test/api/test-clock.test.ts', noticedBy: 'live rows stay' };
const simulation = { test: 'test/simulation/simulation.test.ts', noticedBy: 'whatever goes wrong' };

const sabotages: Sabotage[] = [
  { guard: 'the row lock', ...posting, piece: / FOR UPDATE/, noticedBy: 'row lock:' },
  { guard: 'the sort order of the locks', ...posting, piece: / ORDER BY 1, 2/, noticedBy: 'sort order:' },
  {
    guard: 'the look at what is held already',
    ...posting,
    piece: /ELSIF held IS NOT NULL THEN/,
    instead: 'ELSIF false THEN',
    noticedBy: 'idempotency:',
  },
  {
    guard: 'the look at what is available',
    ...posting,
    piece: /book\.available < amount/,
    instead: 'false',
    noticedBy: 'two hundred holds',
  },
  {
    guard: 'the time of the entry before',
    ...posting,
    piece: /greatest\(at, book\.last_entry_at\)/,
    instead: 'at',
    noticedBy: 'times never go back',
  },
  {
    guard: 'the non-negative check',
    ...ledger,
    instead: 'ALTER TABLE accounts DROP CONSTRAINT accounts_never_below_zero;',
    noticedBy: 'non-negative check:',
  },
  {
    guard: 'the zero-sum check',
    ...ledger,
    instead: 'ALTER TABLE accounts DROP CONSTRAINT accounts_sum_to_zero;',
    noticedBy: 'zero sum:',
  },
  {
    guard: 'the idempotency index of payments',
    ...ledger,
    instead: 'DROP INDEX entries_once_per_payment;',
    noticedBy: 'idempotency index: a second hold',
  },
  {
    guard: 'the idempotency index of references',
    ...ledger,
    instead: 'DROP INDEX entries_once_per_reference;',
    noticedBy: 'idempotency index: a second credit',
  },
  {
    guard: 'the refusal to change entries',
    ...ledger,
    instead: 'DROP TRIGGER entries_are_append_only ON entries;',
    noticedBy: 'append-only: UPDATE',
  },
  {
    guard: 'the refusal to change the audit',
    ...ledger,
    instead: 'DROP TRIGGER audit_is_append_only ON audit;',
    noticedBy: 'append-only: DELETE',
  },
  {
    guard: 'the status in the transition',
    ...payments,
    ...recovery,
    piece: / AND p\.status = 'processing'\n/,
    instead: '\n',
    noticedBy: 'an answer, a poller',
  },
  {
    guard: 'the unique open QR code',
    file: ledger.file,
    instead: 'ALTER TABLE open_payments DROP CONSTRAINT open_payments_pkey;',
    test: 'test/api/races.test.ts',
    noticedBy: 'the same code from two partners',
  },
  {
    guard: 'the void before the refund',
    file: 'src/payments/recovery/recover.ts',
    piece: /await deps\.gateway\.void\(payment\)/,
    instead: "({ outcome: 'voided' } as const)",
    test: 'test/api/live.test.ts',
    noticedBy: 'a late order meets the void',
  },
  {
    guard: 'the commit of the debit before the call',
    file: 'src/payments/create/create.ts',
    piece: /const opened = await openOrFind/,
    instead: "if (caller.mode === 'live') void deps.gateway.pay(opening);\n  const opened = await openOrFind",
    test: 'test/api/live.test.ts',
    noticedBy: 'the answer is lost',
  },
  {
    guard: 'the stored id of the order',
    file: 'src/payments/recovery/recover.ts',
    piece: /deps\.gateway\.poll\(payment\)/,
    instead: "deps.gateway.poll({ ...payment, paymentId: payment.paymentId.replace(/.$/, '0') as 'pay_0' })",
    test: 'test/api/live.test.ts',
    noticedBy: 'it is asked after 2, 5, 10',
  },
  {
    guard: 'the order on record',
    ...payments,
    ...recovery,
    piece: /p\.gateway_order_id IS NULL OR CASE/,
    instead: 'true OR CASE',
    noticedBy: 'ends nothing when the gateway says',
  },
  {
    guard: 'the event with the end',
    ...payments,
    ...recovery,
    piece: /INSERT INTO events \([^)]*\)\n.*?;/,
    noticedBy: 'an answer, a poller',
  },
  {
    guard: 'the search for the dead',
    file: 'src/payments/recovery/recover.ts',
    ...recovery,
    piece: /if \(dead\.length > 0\)/,
    instead: 'if (false)',
    noticedBy: 'leaves its payments to the others',
  },
  {
    guard: 'the events of a suspension',
    file: 'database/functions/queue_deliveries.sql',
    piece: /JOIN webhooks w ON w\.partner_id = n\.partner_id;/,
    instead: 'JOIN webhooks w ON w.partner_id = n.partner_id AND w.suspended_at IS NULL;',
    ...simulation,
  },
  {
    guard: 'the answer before an event is gone',
    file: 'src/webhooks/delivery/attempt.ts',
    piece: /verdict\.outcome === 'answered' && /,
    instead: "verdict.outcome === 'failed' || ",
    ...simulation,
  },
  {
    guard: 'the wait for the record of an attempt',
    file: 'src/webhooks/delivery/worker.ts',
    piece: /, \.\.\.unrecorded\]/,
    instead: ']',
    ...simulation,
  },
  {
    guard: 'the attempt that is next',
    file: 'database/functions/deliveries_end.sql',
    piece: /AND d\.attempts = a\.attempt - 1 /,
    ...simulation,
  },
  {
    guard: 'the place of each answer in a shared read',
    file: 'src/payments/store.ts',
    piece: /found\[row\.item - 1\]/,
    instead: 'found[rows.indexOf(row)]',
    test: 'test/api/list.test.ts',
    noticedBy: 'many partners who read at once',
  },
  {
    guard: 'the owner of an answer that is kept',
    file: 'src/api/payments/finished-payment-cache.ts',
    piece: /\$\{partnerId\} \$\{mode\} /,
    instead: '',
    test: 'test/api/list.test.ts',
    noticedBy: 'a finished payment of another',
  },
  {
    guard: 'the second person',
    file: 'src/approvals/requests.ts',
    ...approvals,
    piece: /askedBy === operatorId \|\| askedName === name/,
    instead: 'askedBy === name',
    noticedBy: 'asker is not approver',
  },
  {
    guard: 'the transaction of an approval',
    file: 'src/approvals/decide.ts',
    ...approvals,
    piece: /await executeRequest\(tx, audit, request\)/,
    instead: 'await transaction(audit.pool, apart => executeRequest(apart, audit, request))',
    noticedBy: 'one transaction:',
  },
  {
    guard: 'the lock of a request',
    file: 'src/approvals/requests.ts',
    ...approvals,
    piece: /WHERE id = \$1 FOR UPDATE/,
    instead: 'WHERE id = $1',
    noticedBy: 'decided once:',
  },
  {
    guard: 'the request that still waits',
    file: 'src/approvals/decide.ts',
    ...approvals,
    piece: /if \(request\.state !== 'waiting'\)/,
    instead: 'if (false)',
    noticedBy: 'decided once:',
  },
  {
    guard: 'the permission of the approver',
    file: 'src/approvals/decide.ts',
    ...approvals,
    piece: /if \(!\(await canDecide\([^\n]*/,
    instead: '',
    noticedBy: 'approving needs the permission',
  },
  {
    guard: 'the mode of payments on the test clock',
    file: 'src/payments/recovery/test-clock.ts',
    piece: /AND mode = 'test' AND lease_holder IS NULL/,
    instead: 'AND lease_holder IS NULL',
    ...testClock,
  },
  {
    guard: 'the mode of deliveries on the test clock',
    file: 'src/webhooks/delivery/test-mode.ts',
    piece: /AND mode = 'test' AND failed_at IS NULL/,
    instead: 'AND failed_at IS NULL',
    ...testClock,
  },
  {
    guard: 'the mode of a scenario',
    file: 'src/payments/create/scenarios.ts',
    piece: /if \(mode !== 'test'\) return undefined;/,
    test: 'test/api/scenarios.test.ts',
    noticedBy: 'no scenario for live payments',
  },
  {
    guard: 'the check who enrolled the second person',
    file: 'src/operators/enrolment-chain.ts',
    ...approvals,
    piece: /if \(issuer === other\) return true;/,
    instead: '',
    noticedBy: 'four eyes: the issuer',
  },
  {
    guard: 'the sum of what one operator credited without approval',
    file: 'src/approvals/submit.ts',
    ...credits,
    piece: /alone \+ microUsdt > creditMicroUsdt/,
    instead: 'microUsdt > creditMicroUsdt',
    noticedBy: 'many small credits',
  },
  {
    guard: 'the lock on the operator who credits',
    file: 'src/approvals/submit.ts',
    ...credits,
    piece: /SELECT FROM operators WHERE id = \$1 FOR NO KEY UPDATE/,
    instead: 'SELECT FROM operators WHERE id = $1',
    noticedBy: 'many small credits',
  },
  {
    guard: 'the look whether the simulator is the bank',
    file: 'src/runtime/main.ts',
    piece: /await refuseAnotherBank\(bank, database\.pool\);/,
    test: 'test/cli/demo.test.ts',
    noticedBy: 'is refused where the last payments are at another bank',
  },
  ...accessSabotages,
];

const house = join(import.meta.dirname, '..');
const copy = mkdtempSync(join(tmpdir(), 'kopeck-sabotage-'));
for (const part of [
  'src',
  'database',
  'simulator',
  'sdk/src',
  'docs',
  'web',
  'test',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
])
  cpSync(join(house, part), join(copy, part), { recursive: true });
symlinkSync(join(house, 'node_modules'), join(copy, 'node_modules'));

const chosen = process.argv.slice(2);
let unnoticed = 0;
for (const sabotage of sabotages.filter(({ guard }) => chosen.length === 0 || chosen.includes(guard))) {
  const red = redTests(sabotage);
  const noticed = red.some(title => title.startsWith(sabotage.noticedBy));
  if (!noticed) unnoticed += 1;
  const [first = 'nothing is red', ...others] = red;
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  console.log(`${noticed ? '✓' : '✗'} without ${sabotage.guard}: ${first}${more}`);
}
rmSync(copy, { recursive: true });
process.exitCode = unnoticed === 0 ? 0 : 1;

/** The titles of the tests that fail without the guard. */
function redTests({ file, piece, instead = '', test }: Sabotage): string[] {
  const path = join(copy, file);
  const whole = readFileSync(path, 'utf8');
  if (piece && !piece.test(whole)) throw new Error(`${file} does not contain ${piece}`);
  writeFileSync(path, piece ? whole.replace(piece, instead) : `${whole}\n${instead}\n`);
  const reportFile = join(copy, 'report.json');
  spawnSync('vitest', ['run', test, '--reporter=json', `--outputFile=${reportFile}`], { cwd: copy });
  writeFileSync(path, whole);
  const report = JSON.parse(readFileSync(reportFile, 'utf8')) as {
    testResults: { assertionResults: { status: string; title: string }[] }[];
  };
  return report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed')
    .map(({ title }) => title);
}
