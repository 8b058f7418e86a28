import { describe, expect, test } from 'vitest';
import { recordChange } from '../../src/db/audit/audit.ts';
import { listAudit } from '../../src/db/audit/audit-log.ts';
import { credit, verifyShared } from '../../src/ledger/index.ts';
import { setRate } from '../helpers/api.ts';
import { answers, readPages, startConsole } from '../helpers/console.ts';
import {
  auditContextOf,
  createFundedPartner,
  createTimedDatabase,
  newPaymentId,
} from '../helpers/database.ts';
import { hold, settle } from '../helpers/ledger.ts';

const { pool, sql, clock } = await createTimedDatabase('2026-11-20T12:00:00Z');
const { signIn } = await startConsole({ pool, clock });
const [viewer, finance] = [await signIn('viewer'), await signIn('finance')];

for (let index = 0; index < 30; index++) {
  const audit = { pool, clock, actor: `operator:${index % 2 === 0 ? 'anna' : 'boris'}` };
  const subject = index === 7 ? '=HYPERLINK("http://evil")' : `thing-${index % 5}`;
  await recordChange(pool, audit, { action: `test.${index % 3}`, subject, after: { index } });
  // Several with the same timestamp.
  if (index % 4 === 0) clock.advance(60_000);
}
const numbers = (rows: { after: { index: number } }[]) => rows.map(({ after }) => after.index);

const all = async (filter: string) => numbers(await readPages(viewer, `/audit?limit=4&${filter}`));
const downFrom29 = Array.from({ length: 30 }, (_, index) => 29 - index);

test('the audit log is listed newest first, each record once, with any filter', async () => {
  expect(await all('actor=operator:anna')).toEqual(downFrom29.filter(index => index % 2 === 0));
  expect(await all('action=test.1')).toEqual(downFrom29.filter(index => index % 3 === 1));
  expect(await all('subject=thing-2&actor=operator:boris')).toEqual(
    downFrom29.filter(index => index % 5 === 2 && index % 2 === 1 && index !== 7),
  );
  const times = 'since=2026-11-20T12:01:00Z&until=2026-11-20T12:03:00Z';
  expect(await all(`${times}`)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
});

test('the audit log is exported as JSON and as CSV without spreadsheet formulas', async () => {
  const json = await viewer.get('/audit/export?format=json&actor=operator:boris');
  expect(numbers(json.json)).toEqual(downFrom29.filter(index => index % 2 === 1));
  const csv = await viewer.get('/audit/export?format=csv&actor=operator:boris');
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit.csv"');
  expect(csv.text.trimEnd().split('\n')).toHaveLength(16);
  expect(csv.text).toContain(`"'=HYPERLINK(""http://evil"")"`);
  expect((await viewer.get('/audit/export?format=json&actor=nobody')).json).toEqual([]);
});

test('a long audit log is exported completely, and each filter uses an index', async () => {
  await sql`INSERT INTO audit (at, actor, action, subject)
       SELECT timestamptz '2026-01-01' + n * interval '1 s', 'operator:' || n % 100, 'many', 'x' || n % 1000
         FROM generate_series(1, 4000) AS n`;
  await pool.query('ANALYZE audit');
  const { json } = await viewer.get('/audit/export?format=json&action=many');
  expect(new Set(json.map(({ audit_id }: { audit_id: string }) => audit_id)).size).toBe(4_000);

  const planOf = async (filter: Parameters<typeof listAudit>[1]) => {
    let plan = '';
    const explaining = {
      query: async (statement: { text: string; values?: unknown[] }) => {
        const { rows } = await pool.query(`EXPLAIN ${statement.text}`, statement.values);
        plan = rows.map(row => row['QUERY PLAN']).join('\n');
        return { rows: [] };
      },
    };
    await listAudit(explaining as never, filter, { limit: 50 });
    return plan;
  };
  expect(await planOf({ actor: 'operator:7' })).toContain('audit_by_actor');
  expect(await planOf({ subject: 'x7' })).toContain('audit_by_subject');
  expect(await planOf({ action: 'key.revoke' })).toContain('audit_by_action');
  expect(await planOf({ until: new Date('2026-01-01T01:00:00Z') })).toContain('audit_by_time');
});

const partnerId = await createFundedPartner(pool, 0n);
const inLive = { partnerId, mode: 'live' } as const;
await credit(pool, clock, [{ ...inLive, reference: '=top-up', microUsdt: 9_000_000n }]);
const held = [1, 2, 3].map(() => ({ ...inLive, paymentId: newPaymentId(), microUsdt: 1_000_000n }));
await hold(pool, clock, held);
await settle(pool, clock, held.slice(0, 2));

test('accounts are listed page by page, each with its five balances', async () => {
  expect(await readPages(finance, '/ledger/accounts?limit=1')).toMatchObject([
    { partner_id: partnerId, mode: 'test', treasury_usdt: '-10000.000000' },
    {
      partner_id: partnerId,
      mode: 'live',
      topup_usdt: '-9.000000',
      available_usdt: '6.000000',
      held_usdt: '1.000000',
      settled_usdt: '2.000000',
      entries: 6,
    },
  ]);
});

test('entries are listed newest first, page by page', async () => {
  const list = (rest: string) =>
    finance.get(`/ledger/entries?partner_id=${partnerId}&mode=live&limit=4${rest}`);
  const first = (await list('')).json;
  expect(first.data.map(({ kind }: { kind: string }) => kind)).toEqual(['settle', 'settle', 'hold', 'hold']);
  const second = (await list(`&after=${first.next_cursor}`)).json;
  expect(second).toMatchObject({
    data: [
      { entry_no: '2', kind: 'hold', available_after_usdt: '8.000000' },
      { entry_no: '1', kind: 'credit', from: 'topup', to: 'available', reference: '=top-up' },
    ],
    next_cursor: null,
  });
});

test('the trial balance adds up to zero', async () => {
  const { json } = await finance.get('/ledger/trial-balance');
  expect(json.total).toEqual({ live_usdt: '0.000000', test_usdt: '0.000000' });
  expect(json.rows).toContainEqual({
    account: 'settled',
    live_usdt: '2.000000',
    test_usdt: '0.000000',
  });
});

test('verification is audited, and concurrent requests share one run', async () => {
  const { json } = await finance.post('/ledger/verify');
  expect(json).toMatchObject({ ok: true, entries: 7, findings: [] });
  expect(json.invariants).toContain('times never go back');
  expect(await sql`SELECT actor, after FROM audit WHERE action = 'ledger.verify'`).toEqual([
    { actor: `operator:${finance.name}`, after: { entries: '7', findings: 0 } },
  ]);
  const [one, other] = [verifyShared(auditContextOf(pool)), verifyShared(auditContextOf(pool))];
  expect(await one).toBe(await other);
});

describe('a statement', () => {
  const ask = (rest: string, id: string = partnerId) =>
    finance.get(`/partners/${id}/statement?mode=live&${rest}`);

  test('is a file in either format, with the same digest', async () => {
    const csv = await ask('day=2026-11-20&format=csv');
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.headers.get('content-disposition')).toBe(
      `attachment; filename="statement-${partnerId}-live-2026-11-20.csv"`,
    );
    const lines = csv.text.trimEnd().split('\n');
    expect(lines.filter(line => line.startsWith('entry,'))).toHaveLength(6);
    expect(csv.text).toContain(`,'=top-up\n`);
    const { json } = await ask('day=2026-11-20&format=json');
    expect(json).toMatchObject({
      closed: false,
      opening: { available_usdt: '0.000000' },
      closing: { available_usdt: '6.000000', held_usdt: '1.000000', settled_usdt: '2.000000' },
      open_holds: [{ amount_usdt: '1.000000' }],
      digest: lines.at(-1)!.split(',').at(-1),
    });
  });

  test('is refused for an invalid day, a future day and an unknown partner', async () => {
    await answers(400, ask('day=2026-11-21&format=csv'));
    await answers(400, ask('day=2026-02-30&format=csv'));
    await answers(422, ask('day=yesterday&format=csv'));
    await answers(422, ask('day=2026-11-20&format=xls'));
    await answers(404, ask('day=2026-11-20&format=csv', 'prt_nobody'));
  });
});

const rules = { spread_bps: 100, band_percent: 5, jump_percent: 10 };

test('without a rate the page is empty', async () => {
  expect((await finance.get('/rates')).json).toEqual({
    now: null,
    rules: { version: 0, ...rules, set_by: null, set_at: null, reason: null },
    history: [],
    changes: [],
  });
  const whatIf = await finance.post('/rates/what-if', { ...rules, amount_rub: '100' });
  expect(whatIf.json).toMatchObject({ rate: null, rate_now: null });
});

test('the rate, its sources and its history', async () => {
  await setRate(pool, clock, '92.5');
  clock.advance(60_000);
  await setRate(pool, clock, '93');
  clock.advance(10_000);
  const { json } = await finance.get('/rates?hours=1');
  expect(json.now).toMatchObject({ rate: '93.0000', age_sec: 10, max_age_sec: 300, stale: false });
  expect(json.now.sources).toMatchObject([
    { source: 'fixed', outcome: 'used', mid: '93.0000', reason: null },
  ]);
  expect(json.history.map(({ rate }: { rate: string }) => rate)).toEqual(['92.5000', '93.0000']);
});

test('what-if computes a rate and changes nothing', async () => {
  const { json } = await finance.post('/rates/what-if', { ...rules, spread_bps: 1_000, amount_rub: '93' });
  expect(json).toMatchObject({
    rate: '83.7000',
    mid: '93.0000',
    amount_usdt: '1.111112',
    rate_now: '93.0000',
    amount_usdt_now: '1.000000',
    alarms: [],
  });
  expect((await finance.get('/rates')).json.rules.version).toBe(0);
});

test('rules change with a reason, if the version is current', async () => {
  const change = (fields: object) =>
    finance.post('/rates/rules', { ...rules, reason: 'a calm market', expected_version: 0, ...fields });
  expect((await change({ band_percent: 2.5 })).json).toMatchObject({
    version: 1,
    band_percent: 2.5,
    set_by: `operator:${finance.name}`,
    reason: 'a calm market',
  });
  await answers('409 stale', change({ band_percent: 3 }));
  for (const wrong of [
    { reason: '' },
    { reason: '   ' },
    { reason: 'two\nlines' },
    { spread_bps: 5_001 },
    { spread_bps: 1.5 },
    { band_percent: 0 },
    { x: 1 },
  ])
    await answers(422, change(wrong));
  const { changes, rules: now } = (await finance.get('/rates')).json;
  expect(changes).toEqual([now]);
  expect(await sql`SELECT actor, after FROM audit WHERE action = 'rate.rules'`).toMatchObject([
    { actor: `operator:${finance.name}`, after: { band_percent: 2.5, reason: 'a calm market' } },
  ]);
});
