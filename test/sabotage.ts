/**
 * Takes away one guard of the money after another and checks that a test named after it goes red. Run it with
 * `npm run sabotage` after touching the ledger: a guard whose loss nobody notices is not guarded.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ledgerSql = readFileSync(new URL('../migrations/0003_ledger.sql', import.meta.url), 'utf8');
const functionSql = ledgerSql.slice(ledgerSql.indexOf('CREATE FUNCTION ledger_post'));

/** The function again, without a piece of it. */
function without(piece: RegExp, instead = ''): string {
  if (!piece.test(functionSql)) throw new Error(`the function does not contain ${piece}`);
  return functionSql.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION').replace(piece, instead);
}

const sabotages: { guard: string; sql: string; noticedBy: string }[] = [
  {
    guard: 'the row lock',
    sql: without(/ FOR UPDATE/),
    noticedBy: 'row lock:',
  },
  {
    guard: 'the sort order of the locks',
    sql: without(/ ORDER BY 1, 2/),
    noticedBy: 'sort order:',
  },
  {
    guard: 'the look at what is held already',
    sql: without(/ELSIF held IS NOT NULL THEN/, 'ELSIF false THEN'),
    noticedBy: 'idempotency:',
  },
  {
    guard: 'the look at what is available',
    sql: without(/book\.available < amount/, 'false'),
    noticedBy: 'two hundred holds',
  },
  {
    guard: 'the non-negative check',
    sql: 'ALTER TABLE accounts DROP CONSTRAINT accounts_never_below_zero',
    noticedBy: 'non-negative check:',
  },
  {
    guard: 'the zero-sum check',
    sql: 'ALTER TABLE accounts DROP CONSTRAINT accounts_sum_to_zero',
    noticedBy: 'zero sum:',
  },
  {
    guard: 'the idempotency index of payments',
    sql: 'DROP INDEX entries_once_per_payment',
    noticedBy: 'idempotency index: a second hold',
  },
  {
    guard: 'the idempotency index of references',
    sql: 'DROP INDEX entries_once_per_reference',
    noticedBy: 'idempotency index: a second credit',
  },
  {
    guard: 'the refusal to change entries',
    sql: 'DROP TRIGGER entries_are_append_only ON entries',
    noticedBy: 'append-only: UPDATE',
  },
  {
    guard: 'the refusal to change the audit',
    sql: 'DROP TRIGGER audit_is_append_only ON audit',
    noticedBy: 'append-only: DELETE',
  },
];

const folder = mkdtempSync(join(tmpdir(), 'kopeck-sabotage-'));
const reportFile = join(folder, 'report.json');
let unnoticed = 0;
for (const { guard, sql, noticedBy } of sabotages) {
  const args = ['run', 'test/ledger/guards.test.ts', '--reporter=json', `--outputFile=${reportFile}`];
  spawnSync('vitest', args, { env: { ...process.env, TEST_SABOTAGE: sql } });
  const report = JSON.parse(readFileSync(reportFile, 'utf8')) as {
    testResults: { assertionResults: { status: string; title: string }[] }[];
  };
  const red = report.testResults
    .flatMap(file => file.assertionResults)
    .filter(({ status }) => status === 'failed');
  const noticed = red.some(({ title }) => title.startsWith(noticedBy));
  if (!noticed) unnoticed += 1;
  console.log(
    `${noticed ? '✓' : '✗'} without ${guard}: ${red.map(({ title }) => title).join('; ') || 'nothing is red'}`,
  );
}
rmSync(folder, { recursive: true });
process.exitCode = unnoticed === 0 ? 0 : 1;
