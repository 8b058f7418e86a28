import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openStatement, writeStatement } from '../../src/ledger/index.ts';
import { acceptInvitation, signUp } from '../../src/partners/index.ts';
import { auditContextOf, createFundedPartner } from '../helpers/database.ts';
import { createCommandLine } from './command-line.ts';

const { pool, partner, run, runJson, expectRefusal } = await createCommandLine();

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
  const changed = { version: 1, spread_bps: 100, band_percent: 2.5, reason: 'a calm market' };
  const set = await rules('--band-percent', '2.5', '--reason', 'a calm market');
  expect(set).toMatchObject({ ...changed, set_by: expect.stringMatching(/^cli:/) });
  expect((await run('rate rules')).stdout).toMatch(/band +2.5%\n/);
  for (const wrong of ['--spread-bps 50', '--reason none', '--band-percent 51 --reason x'])
    expect((await run(`rate rules ${wrong}`)).code).toBe(2);
});

describe('balance', () => {
  const credit = (usdt: string, reference: string, mode = 'live') => [
    ...[`balance credit ${partner} --mode ${mode} --usdt`, usdt, '--reference', reference],
  ];

  test('credit counts once per reference', async () => {
    const first = {
      ...{ partner_id: partner, mode: 'live', reference: 'tx-1', already_credited: false },
      ...{ credited_usdt: '250.500000', balance_usdt: '250.500000' },
    };
    expect(await runJson(...credit('250.5', 'tx-1'))).toEqual(first);
    expect(await runJson(...credit('250.5', 'tx-1'))).toEqual({ ...first, already_credited: true });
    const conflict = /^The reference "tx-1" was already used for a different amount/;
    await expectRefusal(1, conflict, ...credit('250.6', 'tx-1'));
    expect((await runJson(`partner show ${partner}`)).balances.live.balance_usdt).toBe('250.500000');
  });

  test.each([
    ...['1e400', 'NaN', '-0', '-5', '0', '0.000000', '1.1234567', '1,5', '', ' ', 'Infinity', '0x10'],
    ...['1'.repeat(30), '1000000000'],
  ])('an amount of %j is a wrong call and credits nothing', async amount => {
    const before = await pool.query('SELECT count(*) FROM entries');
    const wrong = /option '--usdt <amount>' argument '.*' is invalid\. It must be a positive amount/;
    await expectRefusal(2, wrong, ...credit(amount, 'bad'));
    expect((await pool.query('SELECT count(*) FROM entries')).rows).toEqual(before.rows);
  });

  test('an invalid mode or reference is a wrong call', async () => {
    await expectRefusal(2, /Allowed choices are test, live/, ...credit('1', 'x', 'prod'));
    for (const wrong of [' ', 'x'.repeat(129), 'two\nlines', '\u200b', 'turned \u202e around'])
      await expectRefusal(2, /argument '.*' is invalid/s, ...credit('1', wrong));
  });
});

describe('other commands', () => {
  test('recipients', async () => {
    const name = 'ООО «Ромашка»';
    expect(await runJson('recipient block', name)).toEqual({ recipient: name, blocked: true });
    expect((await runJson('recipient list')).recipients).toEqual([
      { recipient: 'ооо «ромашка»', blocked_at: expect.any(String) },
    ]);
    expect((await run('recipient unblock', 'ООО «РОМАШКА»')).stdout).toBe(
      '"ООО «РОМАШКА»" is no longer blocked.\n',
    );
    expect((await run('recipient list')).stdout).toBe('(none)\n');
    await expectRefusal(1, /is not blocked/, 'recipient unblock', name);
  });

  test('maintenance', async () => {
    expect(await runJson('maintenance on')).toEqual({ maintenance: true });
    expect((await run('maintenance off')).stdout).toBe('Maintenance is off.\n');
    const plan = ['maintenance', 'plan', '--from', '2126-11-20T22:00:00Z', '--until'];
    const { window_id, ...times } = await runJson(...plan, '2126-11-20T23:00:00Z');
    expect(times).toEqual({ from: '2126-11-20T22:00:00.000Z', until: '2126-11-20T23:00:00.000Z' });
    await expectRefusal(1, /end must be after the start/, ...plan, '2126-11-20T21:00:00Z');
    expect(await runJson('maintenance list')).toMatchObject({ windows: [{ window_id, ...times }] });
    expect(await runJson('maintenance cancel', `${window_id}`)).toEqual({ window_id, cancelled: true });
    await expectRefusal(1, /no scheduled or active window/, 'maintenance cancel', `${window_id}`);
  });

  test('a partner that signed up in the bot gets live keys when it is approved; another gets its first owner', async () => {
    const person = { userId: 7_300_000_001n, name: 'Anna' };
    const signed = await signUp(auditContextOf(pool), person, 'Tea');
    const { partnerId } = signed.outcome === 'signed_up' ? signed.partner : { partnerId: '' };
    await expectRefusal(1, /kopeck partner approve/, `key create ${partnerId} --mode live`);
    expect(await runJson(`partner approve ${partnerId}`)).toMatchObject({ live_approved: true });
    await runJson(`key create ${partnerId} --mode live`);

    const { start } = await runJson(`partner invite ${partner}`);
    const token = start.replace('/start inv_', '');
    expect(await acceptInvitation(auditContextOf(pool), token, person)).toMatchObject({ outcome: 'joined' });
    await expectRefusal(1, /There is no partner/, 'partner invite prt_nobody');
    await expectRefusal(1, /There is no partner/, 'partner approve prt_nobody');
  });

  test('a wrong call exits with 2, help with 0', async () => {
    await expectRefusal(2, /unknown command 'nonsense'/, 'nonsense');
    await expectRefusal(2, /unknown option '--nonsense'/, 'partner list --nonsense');
    await expectRefusal(2, /missing required argument 'partner'/, 'partner show');
    await expectRefusal(2, /too many arguments/, `partner show ${partner} ${partner}`);
    await expectRefusal(2, /required option '--name <name>' not specified/, 'partner create');
    expect((await run()).code).toBe(2);
    const asJson = await run('partner show --json');
    expect(asJson.code).toBe(2);
    expect(JSON.parse(asJson.stderr)).toEqual({
      error: { code: 'wrong_call', message: "missing required argument 'partner'" },
    });
    expect(await run('--help')).toMatchObject({ code: 0, stdout: expect.stringContaining('Usage: kopeck') });
  });

  test('the version is that of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
    expect(await run('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('ledger verify exits with 0, or with 1 and the broken invariant', async () => {
    expect(await run('ledger verify')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^The ledger is consistent: \d+ entries, 20 invariants hold\.\n$/),
    });
    await pool.query('ALTER TABLE accounts DROP CONSTRAINT accounts_sum_to_zero');
    await pool.query("UPDATE accounts SET available = available + 1 WHERE mode = 'live'");
    const table = await run('ledger verify');
    expect(table.code).toBe(1);
    expect(table.stdout).toContain('entries add up to the balances');
    const { code, stdout } = await run('ledger verify --json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([
        expect.objectContaining({ partner_id: partner, mode: 'live', invariant: 'all accounts sum to zero' }),
      ]),
    });
  });
});
