import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allCommands, expectAccepted, wordsOf } from '../cli/all-commands.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { isPrometheusInstalled } from '../helpers/prometheus.ts';
import { blocksOf, codeSpansOf, runbookNames, statementsOf } from '../helpers/runbooks.ts';

/** What a person at night copies from a runbook must work: nothing of it is only text. */
const pages = runbookNames.map(name => ({
  name,
  commands: codeSpansOf(name).filter(code => code.startsWith('kopeck ')),
  expressions: codeSpansOf(name).filter(code => /\b(kopeck|http)_|^up\{/.test(code)),
  statements: blocksOf(name, 'sql'),
}));
const all = <Key extends 'commands' | 'expressions' | 'statements'>(key: Key) =>
  pages.flatMap(page => page[key].map(code => ({ name: page.name, code })));

test('commands, expressions and statements are found by this test', () => {
  expect(all('commands').length).toBeGreaterThan(15);
  expect(all('expressions').length).toBeGreaterThan(15);
  expect(all('statements').length).toBeGreaterThan(5);
});

test.each(all('commands'))('the command line takes this of $name: $code', ({ code }) => {
  const args = wordsOf(code).slice(1);
  const found = allCommands.find(([path]) => `${args.join(' ')} `.startsWith(`${path} `));
  expect(found, `no such command: ${code}`).toBeDefined();
  expectAccepted(...found!, { line: code, args });
});

describe('PostgreSQL executes', async () => {
  const { pool } = await createDatabase();

  test.each(all('statements'))('this of $name: $code', async ({ code }) => {
    // One by one, as psql does. No session has the number 0.
    for (const statement of statementsOf(code))
      await pool.query(
        statement.replaceAll('PID', '0').replace('DATABASE kopeck', `DATABASE ${pool.options.database}`),
      );
  });
});

test.runIf(isPrometheusInstalled)('Prometheus reads every expression', () => {
  const rules = all('expressions').map(({ code: expr }, nth) => ({ record: `runbook:${nth}`, expr }));
  const file = join(newFolder(), 'runbooks.json');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'runbooks', rules }] }));
  const { status, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
});
