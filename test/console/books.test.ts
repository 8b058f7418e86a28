import { beforeAll, describe, expect, test } from 'vitest';
import type { Id } from '../../src/base/ids.ts';
import { credit, verifyShared } from '../../src/ledger/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { readPages, startConsole } from '../helpers/console.ts';
import { auditContextOf, createDatabase, createFundedPartner, newPaymentId } from '../helpers/database.ts';
import { hold, settle } from '../helpers/ledger.ts';

const { pool } = await createDatabase();
const clock = manualClock('2026-11-20T12:00:00Z');
const { signIn } = await startConsole({ pool, clock });
let finance: Awaited<ReturnType<typeof signIn>>;
let partnerId: Id<'prt'>;
const live = 'live' as const;

beforeAll(async () => {
  finance = await signIn('finance');
  partnerId = await createFundedPartner(pool, 0n);
  await credit(pool, clock, [{ partnerId, mode: live, reference: '=top-up', microUsdt: 9_000_000n }]);
  const payments = Array.from({ length: 3 }, () => ({
    partnerId,
    mode: live,
    paymentId: newPaymentId(),
    microUsdt: 1_000_000n,
  }));
  await hold(pool, clock, payments);
  await settle(pool, clock, payments.slice(0, 2));
});

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
  const { rows } = await pool.query(`SELECT actor, after FROM audit WHERE action = 'ledger.verify'`);
  expect(rows).toEqual([{ actor: `operator:${finance.name}`, after: { entries: '7', findings: 0 } }]);
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
    expect((await ask('day=2026-11-21&format=csv')).status).toBe(400);
    expect((await ask('day=2026-02-30&format=csv')).status).toBe(400);
    expect((await ask('day=yesterday&format=csv')).status).toBe(422);
    expect((await ask('day=2026-11-20&format=xls')).status).toBe(422);
    expect((await ask('day=2026-11-20&format=csv', 'prt_nobody')).status).toBe(404);
  });
});
