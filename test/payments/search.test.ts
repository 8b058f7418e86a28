import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { transaction } from '../../src/db/postgres/pool.ts';
import {
  type PaymentFilter,
  readSearchWords,
  searchPayments,
  totalPayments,
} from '../../src/payments/index.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { createDatabase, createFundedPartner } from '../helpers/database.ts';
import { storeManyPayments } from '../helpers/many-payments.ts';
import { openingsOf } from '../helpers/openings.ts';
import { explaining } from '../helpers/plans.ts';
import { openInReview } from '../helpers/review.ts';

const { pool } = await createDatabase();
const count = 100_000;
const { partners, firstAt } = await storeManyPayments(pool, count);
const qrHosts = ['qr.nspk.ru', 'web.qr.nspk.ru'];

const search = (filter: PaymentFilter, limit = 50) => searchPayments(pool, [filter], { limit });
const words = (text: string, limit = 50) => searchPayments(pool, readSearchWords(text, qrHosts), { limit });

const [some] = (await pool.query(`SELECT * FROM payments WHERE idempotency_key = 'key-30003'`)).rows;
const [newest] = (await search({}, 1)).payments;
const someAt = new Date(firstAt.getTime() + 30_003 * 100);

const shapes: Record<string, PaymentFilter> = {
  nothing: {},
  'a payment': { paymentId: newest!.paymentId },
  'an external id': { externalId: 'order-30003' },
  'an unknown external id': { externalId: 'order-x' },
  'a code': { qrcId: some.qrc_id },
  'a common recipient': { recipient: 'пЯТ' },
  'a rare recipient': { recipient: 'ромашка 70' },
  'an unknown recipient': { recipient: 'Щ' },
  'a partner': { partnerId: partners[3]! },
  'the name of a partner': { partnerName: 'shop 7' },
  'a common amount': { amountKopecks: 10_000n },
  'a rare amount': { amountKopecks: 1_033n },
  'live mode': { mode: 'live' },
  'test mode': { mode: 'test' },
  processing: { status: 'processing' },
  'manual review': { status: 'processing', statusDetail: 'manual_review' },
  succeeded: { status: 'succeeded' },
  failed: { status: 'failed' },
  'failed, of a partner': { status: 'failed', partnerId: partners[7]! },
  'a time': { createdFrom: someAt, createdBefore: new Date(someAt.getTime() + 60_000) },
  'a key': { idempotencyKey: 'key-30003' },
  'a partner, an amount and a time': {
    partnerId: partners[3]!,
    amountKopecks: 1_033n,
    createdFrom: someAt,
  },
};

describe('every search uses an index:', () => {
  test.each(Object.entries(shapes))('%s', async (_name, filter) => {
    const { db, blocks, scanned, sorted } = explaining(pool);
    const { payments, next } = await searchPayments(db, [filter], { limit: 50 });
    // And its next page.
    if (next) await searchPayments(db, [filter], { limit: 50, after: next });
    for (const { paymentId } of payments) expect(paymentId).toMatch(/^pay_/);
    expect(scanned().filter(table => ['payments', 'entries'].includes(table))).toEqual([]);
    expect(Math.max(0, ...sorted())).toBeLessThanOrEqual(4_100);
    expect(Math.max(...blocks())).toBeLessThan(4_500);
  });

  test('and the usual ones read few pages', async () => {
    const usual =
      'nothing, a payment, an external id, a code, a partner, live mode, failed, a key, a common recipient';
    for (const name of usual.split(', ')) {
      const { db, blocks } = explaining(pool);
      await searchPayments(db, [shapes[name]!], { limit: 50 });
      expect(Math.max(...blocks()), `${name}: ${blocks()}`).toBeLessThan(1_000);
    }
  });
});

/** Totals by brute force. */
async function expectedTotals(condition: string, values: unknown[] = []) {
  const { rows } = await pool.query(
    `SELECT mode, CASE WHEN status = 'processing' AND status_detail = 'manual_review' THEN 'manual_review' ELSE status::text END
              AS state, count(*)::int AS count, sum(amount_kopecks)::bigint AS kopecks, sum(micro_usdt)::bigint AS "microUsdt"
       FROM payments p WHERE NOT rejected AND ${condition} GROUP BY 1, 2`,
    values,
  );
  return inOrder(rows);
}
const inOrder = <Row extends { mode: string; state: string }>(rows: Row[]) =>
  rows.toSorted((one, other) => `${one.mode} ${one.state}`.localeCompare(`${other.mode} ${other.state}`));

describe('what is found', () => {
  beforeAll(async () => {
    const reviewed = await createFundedPartner(pool, 1_000_000_000n);
    for (let nth = 0; nth < 3; nth++) await openInReview(pool, reviewed, { amountKopecks: 777_700n });
  });

  /** The same by brute force. */
  const expected = async (condition: string, values: unknown[] = [], limit = 50) => {
    const { rows } = await pool.query(
      `SELECT id FROM payments WHERE NOT rejected AND ${condition} ORDER BY id DESC LIMIT ${limit}`,
      values,
    );
    return rows.map(({ id }) => id);
  };
  const idsOf = async (found: ReturnType<typeof search>) => {
    const { payments } = await found;
    const { rows } = await pool.query(
      'SELECT idempotency_key, id FROM payments WHERE idempotency_key = ANY ($1)',
      [payments.map(({ idempotencyKey }) => idempotencyKey)],
    );
    const ids = new Map(rows.map(row => [row.idempotency_key, row.id]));
    return payments.map(({ idempotencyKey }) => ids.get(idempotencyKey));
  };

  test.each([
    ['newest first', {}, 'true'],
    [
      'of a partner',
      { partnerName: 'SHOP 4' },
      `partner_id = (SELECT id FROM partners WHERE name = 'Shop 4')`,
    ],
    ['in test mode', { mode: 'test' }, `mode = 'test'`],
    ['failed, and not rejected', { status: 'failed' }, `status = 'failed'`],
    ['processing', { status: 'processing' }, `status = 'processing'`],
    ['over an amount', { amountKopecks: 1_033n }, 'amount_kopecks = 1033'],
    ['of a popular recipient', { recipient: 'пятё' }, `recipient = 'Пятёрочка'`],
    ['of rare recipients', { recipient: 'РОМАШКА 7' }, `recipient LIKE 'Ромашка 7%'`],
    ['of rarer recipients', { recipient: 'ромашка 70' }, `recipient LIKE 'Ромашка 70%'`],
    ['by external id', { externalId: 'order-30003' }, `external_id = 'order-30003'`],
    ['nothing', { externalId: 'none' }, 'false'],
    [
      'within a time, to the millisecond',
      { createdFrom: someAt, createdBefore: new Date(someAt.getTime() + 500) },
      'created_at >= $1 AND created_at < $2',
      [someAt, new Date(someAt.getTime() + 500)],
    ],
  ] as [string, PaymentFilter, string, unknown[]?][])('%s', async (name, filter, condition, values) => {
    const wanted = await expected(condition, values);
    expect(wanted.length > 0).toBe(name !== 'nothing');
    expect(await idsOf(search(filter))).toEqual(wanted);
    // And the totals, of so many as are counted.
    if (['newest first', 'of a popular recipient', 'of rare recipients'].includes(name)) return;
    const { totals, isComplete } = await totalPayments(pool, [filter]);
    expect(inOrder(totals)).toEqual(await expectedTotals(condition, values));
    expect(isComplete).toBe(true);
  });

  test('pages follow each other without a gap or a repeat', async () => {
    const seen: string[] = [];
    let after: `pay_${string}` | undefined;
    for (let page = 0; page < 8; page++) {
      const { payments, next } = await searchPayments(pool, [{ status: 'failed' }], { limit: 7, after });
      seen.push(...payments.map(({ paymentId }) => paymentId));
      after = next!;
    }
    const whole = await search({ status: 'failed' }, 56);
    expect(seen).toEqual(whole.payments.map(({ paymentId }) => paymentId));
  });

  test('a rare match far back: pages may be short, but the next ones reach it', async () => {
    const filter = {
      partnerId: partners[4]!,
      amountKopecks: 10_000n,
      createdBefore: new Date(firstAt.getTime() + 60_000),
    };
    const all = await expected(
      `partner_id = (SELECT id FROM partners WHERE name = 'Shop 4') AND amount_kopecks = 10000 AND created_at < $1`,
      [filter.createdBefore],
      10_000,
    );
    const amounts = { ...filter, createdBefore: undefined };
    const found: string[] = [];
    let after: `pay_${string}` | undefined;
    for (let page = 0; page < 1_000; page++) {
      const { payments, next } = await searchPayments(pool, [amounts], { limit: 100, after });
      found.push(...payments.map(({ idempotencyKey }) => idempotencyKey));
      if (!next) break;
      after = next;
    }
    const { rows } = await pool.query(
      'SELECT idempotency_key FROM payments WHERE id = ANY ($1) ORDER BY id DESC',
      [all],
    );
    expect(found.slice(-rows.length)).toEqual(rows.map(row => row.idempotency_key));
  });
});

describe('the text of the search field', () => {
  const keys = async (text: string, limit = 50) =>
    (await words(text, limit)).payments.map(({ idempotencyKey }) => idempotencyKey);

  test.each([
    ['its id', newest!.paymentId, newest!.idempotencyKey],
    ['its link', `${some.qr_url}?type=02&sum=10000&cur=RUB`, 'key-30003'],
    ['its code', some.qrc_id, 'key-30003'],
    ['its external id', 'order-30003', 'key-30003'],
    ['its key', ' key-30003 ', 'key-30003'],
    ['its external id, mode and state', 'order-30003 live succeeded', 'key-30003'],
    ['its recipient', 'ип иванов 30003', 'key-30003'],
  ])('%s', async (_name, text, key) => {
    expect(await keys(text)).toContain(key);
  });

  test('a sum in each notation', async () => {
    const [first] = await keys('100,00');
    for (const text of ['100.00', '100₽', '100', '100 ']) expect((await keys(text))[0], text).toBe(first);
    const page = await words('100.00');
    expect(page.payments.every(({ amountKopecks }) => amountKopecks === 10_000n)).toBe(true);
  });

  test('a day, a partner, a state', async () => {
    const day = firstAt.toISOString().slice(0, 10);
    const { payments } = await words(`${day} failed ${partners[7]}`);
    expect(payments.length).toBeGreaterThan(0);
    for (const payment of payments) {
      expect(payment).toMatchObject({ status: 'failed', partnerId: partners[7], partnerName: 'Shop 7' });
      expect(payment.createdAt.toISOString().slice(0, 10)).toBe(day);
    }
  });

  test('an unknown text finds nothing, whatever it contains', async () => {
    for (const text of ['nothing like it', "'; DROP TABLE payments", '%', '_', '\u{10FFFF}', 'pay_x'])
      expect(await keys(text), text).toEqual([]);
  });
});

test('finishing a payment is an update that changes no index (HOT)', async () => {
  const partnerId = await createFundedPartner(pool, 1_000_000_000n);
  const opening = await openingsOf(pool, systemClock);
  const updates = await transaction(pool, async tx => {
    const writer = createPaymentWriter(tx, systemClock);
    for (let nth = 0; nth < 20; nth++) {
      const payment = opening(partnerId, { externalId: randomUUID(), recipient: 'Somebody' });
      await writer.open(payment);
      await writer.finish({ ...payment, outcome: 'succeeded', orderId: payment.paymentId });
    }
    const counted = await tx.query<{ all: bigint; hot: bigint }>({
      text: `SELECT pg_stat_get_xact_tuples_updated('payments'::regclass) AS all,
                    pg_stat_get_xact_tuples_hot_updated('payments'::regclass) AS hot`,
    });
    return counted.rows[0]!;
  });
  expect(updates).toEqual({ all: 20n, hot: 20n });
});

describe('totals', () => {
  test('a payment that several readings of the search text match is counted once', async () => {
    // Both an external id and the beginning of a name.
    await pool.query(`UPDATE payments SET external_id = 'Ромашка 70' WHERE recipient = 'Ромашка 70'`);
    const filters = readSearchWords('Ромашка 70', qrHosts);
    expect(filters.length).toBeGreaterThan(1);
    const { totals } = await totalPayments(pool, filters);
    expect(inOrder(totals)).toEqual(await expectedTotals(`recipient LIKE 'Ромашка 70%'`));
  });

  test('of too many payments only the newest are counted, in scans along an index', async () => {
    const { db, blocks, scanned } = explaining(pool);
    const { totals, isComplete } = await totalPayments(db, [{}]);
    expect(isComplete).toBe(false);
    expect(totals.reduce((sum, { count }) => sum + count, 0)).toBe(20_000);
    expect(blocks()).toHaveLength(10);
    expect(Math.max(...blocks())).toBeLessThan(4_500);
    expect(scanned()).not.toContain('payments');
    expect((await totalPayments(pool, [{ partnerId: partners[3]! }])).isComplete).toBe(true);
  });
});
