import { expect, test } from 'vitest';
import { openStatement, writeStatement } from '../../src/ledger/index.ts';
import { kopeck } from '../helpers/cli.ts';
import { auditContextOf, createDatabase, createFundedPartner } from '../helpers/database.ts';
import { folderWithKey } from '../helpers/folders.ts';

const { pool, url } = await createDatabase();
const env = { DATABASE_URL: url, DATA_DIR: folderWithKey() };
const run = (...args: string[]) => kopeck(env, ...args);

test("a partner's statement has the same bytes as over HTTP", async () => {
  const partnerId = await createFundedPartner(pool, 5_000_000n);
  const today = new Date().toISOString().slice(0, 10);
  const account = { partnerId, mode: 'live' } as const;
  for (const form of ['json', 'csv'] as const) {
    const statement = await openStatement(pool, auditContextOf(pool).clock, account, new Date(today));
    if (typeof statement !== 'object') throw new Error('there is no statement');
    let text = '';
    for await (const piece of writeStatement(pool, statement, form)) text += piece;
    const args = ['ledger', 'statement', partnerId, '--mode', 'live', '--day', today];
    expect((await run(...args, ...(form === 'csv' ? ['--csv'] : []))).stdout).toBe(text);
  }
  const later = await run(`ledger statement ${partnerId} --mode live --day 2999-01-01`);
  expect([later.code, later.stderr]).toEqual([1, 'That day has not started yet.\n']);
});

test('rate rules are shown, and changed with a reason', async () => {
  const rules = async (...args: string[]) => JSON.parse((await run('rate rules --json', ...args)).stdout);
  expect(await rules()).toMatchObject({ version: 0, spread_bps: 100, band_percent: 5, jump_percent: 10 });
  expect(await rules('--band-percent', '2.5', '--reason', 'a calm market')).toMatchObject({
    version: 1,
    spread_bps: 100,
    band_percent: 2.5,
    set_by: expect.stringMatching(/^cli:/),
    reason: 'a calm market',
  });
  expect((await run('rate rules')).stdout).toMatch(/band +2.5%\n/);
  for (const wrong of [
    ['--spread-bps', '50'],
    ['--reason', 'none'],
    ['--band-percent', '51', '--reason', 'x'],
  ])
    expect((await run('rate rules', ...wrong)).code).toBe(2);
});
