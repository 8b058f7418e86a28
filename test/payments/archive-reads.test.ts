import { expect, test } from 'vitest';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { findPayment, listNewerPayments, listPayments } from '../../src/payments/index.ts';
import { listStatement } from '../../src/payments/search/list.ts';
import { findPaymentByKey } from '../../src/payments/store.ts';
import { listEvents } from '../../src/webhooks/index.ts';
import { createDatabase } from '../helpers/database.ts';
import { storeManyPayments } from '../helpers/many-payments.ts';
import { createPast } from './archive-world.ts';

const { pool } = await createDatabase();
const past = await createPast(pool);

/** Runs a read and says whether it looked into the archive. */
async function looksIntoArchive(read: (db: Queryable) => Promise<unknown>): Promise<boolean> {
  const texts: string[] = [];
  await read({
    query: statement => {
      texts.push(statement.text);
      return pool.query(statement);
    },
  });
  return texts.some(text =>
    /\b(all_|payments_archive|events_archive|payment_anywhere|archived_events_from)/.test(text),
  );
}

test('frequent reads of recent rows do not look into the archive', async () => {
  const partnerId = await past.newPartner();
  const account = { partnerId, mode: 'live' } as const;
  const [old] = [await past.pay(partnerId), await past.pay(partnerId)];
  past.at('2026-03-20T00:00:00Z');
  const recent: (typeof old)[] = [];
  for (let nth = 0; nth < 4; nth++) recent.push(await past.pay(partnerId));
  await past.archive('2026-02');
  const { events } = (await listEvents(pool, account, { after: 0n, limit: 10 }))!;
  expect(events).toHaveLength(6);

  const reads: [boolean, (db: Queryable) => Promise<unknown>][] = [
    [false, db => findPayment(db, account, recent[0]!.paymentId)],
    [true, db => findPayment(db, account, old!.paymentId)],
    [false, db => findPaymentByKey(db, account, 'a new key')],
    [false, db => findPaymentByKey(db, account, recent[0]!.idempotencyKey)],
    [true, db => findPaymentByKey(db, account, old!.idempotencyKey)],
    [false, db => listPayments(db, account, { limit: 3 })],
    [true, db => listPayments(db, account, { limit: 4 })],
    [false, db => listPayments(db, account, { limit: 9, status: 'processing' })],
    [false, db => listPayments(db, { ...account, mode: 'test' }, { limit: 9 })],
    [false, db => listEvents(db, account, { after: events[2]!.eventId, limit: 10 })],
    [true, db => listEvents(db, account, { after: events[1]!.eventId, limit: 10 })],
  ];
  const looked = [];
  for (const [, read] of reads) looked.push(await looksIntoArchive(read));
  expect(looked).toEqual(reads.map(([expected]) => expected));
});

test('pages in both directions have live and archived payments in order', async () => {
  const world = await createPast(pool, '2025-01-10T00:00:00Z');
  const partnerId = await world.newPartner();
  const account = { partnerId, mode: 'live' } as const;
  const ids: string[] = [];
  for (const month of ['01', '02', '03', '04']) {
    world.at(`2025-${month}-15T00:00:00Z`);
    ids.unshift((await world.pay(partnerId)).paymentId);
    // It stays live between archived ones.
    ids.unshift((await world.open(partnerId)).paymentId);
    ids.unshift((await world.pay(partnerId)).paymentId);
  }
  world.at('2025-05-20T00:00:00Z');
  await world.archive('2025-04');
  expect(await world.rowsOf(partnerId)).toMatchObject({
    live: [6, 2, expect.any(Number)],
    archived: [6, 6, 4],
  });

  for (const limit of [1, 2, 5, 12]) {
    const seen: string[] = [];
    for (let hasMore = true; hasMore; ) {
      const startingAfter = seen.at(-1) as `pay_${string}` | undefined;
      const page = await listPayments(pool, account, { limit, startingAfter });
      seen.push(...page.payments.map(({ paymentId }) => paymentId));
      hasMore = page.hasMore;
    }
    expect(seen).toEqual(ids);
    for (const [index, than] of ids.entries()) {
      const newer = await listNewerPayments(pool, account, { limit, than: than as `pay_${string}` });
      const expected = ids.slice(Math.max(0, index - limit), index);
      expect(newer.payments.map(({ paymentId }) => paymentId)).toEqual(expected);
      expect(newer.hasMore).toBe(index > limit);
    }
  }
});

test('a page that reaches into the archive reads along one index of a month', async () => {
  const { partners } = await storeManyPayments(pool, 6_000, 3);
  await pool.query(
    `SELECT archive_prepare(m.month) FROM (SELECT DISTINCT archive_month_of(id) AS month FROM payments) AS m`,
  );
  await pool.query(`INSERT INTO payments_archive SELECT * FROM payments WHERE status <> 'processing'`);
  await pool.query('ANALYZE payments_archive');
  const { rows: ids } = await pool.query<{ first: string; beyond: string }>(
    `SELECT archive_first_id(m) AS first, archive_first_id((m + interval '1 month')::date) AS beyond
       FROM (SELECT max(archive_month_of(id)) AS m FROM payments) AS newest`,
  );
  const month = { firstId: ids[0]!.first, beyondId: ids[0]!.beyond };
  for (const filter of [{}, { status: 'failed' as const }, { externalId: 'order-3003' }]) {
    const account = { partnerId: partners[0]!, mode: 'live' } as const;
    const { text, values } = listStatement(account, { limit: 20, ...filter }, month);
    const { rows } = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values);
    const plan = rows[0]['QUERY PLAN'][0].Plan;
    expect(JSON.stringify(plan)).not.toMatch(/Seq Scan|Sort|Append/);
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(100);
  }
});
