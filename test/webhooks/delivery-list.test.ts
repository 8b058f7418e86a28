import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import {
  countFailed,
  type DeliveryFilter,
  findDelivery,
  findEventsOf,
  firstEndpointOf,
  listDeliveries,
  listEndpoints,
  pruneLog,
} from '../../src/webhooks/index.ts';
import { createDatabase } from '../helpers/database.ts';
import { storeManyPayments } from '../helpers/many-payments.ts';
import { explaining } from '../helpers/plans.ts';

const { pool } = await createDatabase();
const { partners, firstAt } = await storeManyPayments(pool, 16_000);
/** Its endpoint is suspended: nothing of it is sent. */
const suspended = partners[5]!;
const quiet = partners[6]!;
/** One of two with payments in test mode. */
const first = partners[0]!;

// Partitions as in operation: of this week and the next ones.
await pruneLog(pool, systemClock);
await pool.query(
  `INSERT INTO endpoints (endpoint_id, partner_id, number, url, secret, events, created_at, changed_at, suspended_at)
   SELECT id, id, 1, 'https://shop.example/' || name, '\\x00', '{payment.succeeded,payment.failed}', now(), now(), CASE WHEN id = $1 THEN now() END FROM partners`,
  [uuidFromId(suspended)],
);
for (let from = 0; from < 16; from++) {
  const ends = [from, from + 1].map(nth => new Date(firstAt.getTime() + nth * 100_000 + 50));
  await pool.query(
    `WITH made AS (
       INSERT INTO events (partner_id, mode, payment_id, at)
       SELECT partner_id, mode, id, settled_at FROM payments
        WHERE NOT rejected AND created_at >= $1 AND created_at < $2 ORDER BY id
       RETURNING *)
     INSERT INTO deliveries (endpoint_id, partner_id, event_id, mode, payment_id, next_at)
     SELECT partner_id, partner_id, id, mode, payment_id, at FROM made`,
    ends,
  );
}
/** One in 499 failed, one in 503 is tried again, those of the suspended endpoint wait, the others are delivered. */
await pool.query(`UPDATE deliveries SET attempts = 9, failed_at = now() WHERE event_id % 499 = 0`);
await pool.query(
  `UPDATE deliveries SET attempts = 2, next_at = now() + interval '1 h' WHERE event_id % 503 = 0 AND failed_at IS NULL`,
);
await pool.query(
  `INSERT INTO webhook_attempts (endpoint_id, partner_id, event_id, attempt, at, status, error, duration_ms)
   SELECT endpoint_id, partner_id, event_id, nth, now(), CASE nth WHEN 1 THEN 503 END, CASE nth WHEN 2 THEN 'refused' END, 12
     FROM deliveries, generate_series(1, 2) AS nth WHERE attempts > 0`,
);
const delivered = await pool.query(
  `WITH gone AS (DELETE FROM deliveries WHERE attempts = 0 AND partner_id <> $1 RETURNING *)
   INSERT INTO webhook_attempts (endpoint_id, partner_id, event_id, attempt, at, status, duration_ms)
   SELECT endpoint_id, partner_id, event_id, 1, now(), 200, 7 FROM gone`,
  [uuidFromId(suspended)],
);
await pool.query('VACUUM ANALYZE events, deliveries, webhook_attempts, endpoints');

const large = /^(payments|events|deliveries|webhook_attempts(_\d+)?)$/;

const someAt = new Date(firstAt.getTime() + 600_000);
const inTenMinutes = new Date(someAt.getTime() + 600_000);

const open = 'd.event_id IS NOT NULL AND d.failed_at IS NULL';
const ofOne = 'e.partner_id = $1';
/** Filters, and the same by brute force. */
const lists: [name: string, filter: DeliveryFilter, condition: string, values: unknown[]][] = [
  ['nothing', {}, 'true', []],
  ['pending', { state: 'pending' }, open, []],
  ['failed', { state: 'failed' }, 'd.failed_at IS NOT NULL', []],
  ['delivered', { state: 'delivered' }, 'd.event_id IS NULL', []],
  ['a partner', { partnerId: quiet }, ofOne, [uuidFromId(quiet)]],
  ['a suspended partner', { partnerId: suspended }, ofOne, [uuidFromId(suspended)]],
  ['pending, of one', { partnerId: quiet, state: 'pending' }, `${ofOne} AND ${open}`, [uuidFromId(quiet)]],
  [
    'failed, of a suspended partner',
    { partnerId: suspended, state: 'failed' },
    `${ofOne} AND d.failed_at IS NOT NULL`,
    [uuidFromId(suspended)],
  ],
  [
    'delivered, of a partner in test mode',
    { partnerId: first, state: 'delivered', mode: 'test' },
    `${ofOne} AND d.event_id IS NULL AND e.mode = 'test'`,
    [uuidFromId(first)],
  ],
  [
    'an endpoint of a partner',
    { partnerId: quiet, endpointId: firstEndpointOf(quiet) },
    ofOne,
    [uuidFromId(quiet)],
  ],
  [
    'failed, of an endpoint',
    { partnerId: suspended, endpointId: firstEndpointOf(suspended), state: 'failed' },
    `${ofOne} AND d.failed_at IS NOT NULL`,
    [uuidFromId(suspended)],
  ],
  ['test mode', { mode: 'test' }, `e.mode = 'test'`, []],
  ['failed payments', { outcome: 'failed' }, `p.status = 'failed'`, []],
  ['a time', { from: someAt, before: inTenMinutes }, 'e.at >= $1 AND e.at < $2', [someAt, inTenMinutes]],
  [
    'delivered payments of a partner in a time, to the millisecond',
    { partnerId: quiet, state: 'delivered', outcome: 'succeeded', from: someAt, before: inTenMinutes },
    `${ofOne} AND d.event_id IS NULL AND p.status = 'succeeded' AND e.at >= $2 AND e.at < $3`,
    [uuidFromId(quiet), someAt, inTenMinutes],
  ],
];
const usual = ['nothing', 'pending', 'failed', 'delivered', 'a partner', 'a suspended partner'];

describe('every list uses an index:', () => {
  test.each(lists)('%s', async (name, filter) => {
    const { db, blocks, scanned } = explaining(pool);
    const { next } = await listDeliveries(db, systemClock, filter, { limit: 50 });
    const mostBlocks = Math.max(...blocks());
    // And its next page.
    if (next) await listDeliveries(db, systemClock, filter, { limit: 50, after: next });
    expect(scanned().filter(table => large.test(table))).toEqual([]);
    expect(Math.max(...blocks()), `${blocks()}`).toBeLessThan(20_000);
    // The usual ones read few pages.
    if (usual.includes(name)) expect(mostBlocks, `${blocks()}`).toBeLessThan(3_000);
  });
});

/** All pages of a list, or the first thousand deliveries of a long one. */
async function pages(filter: DeliveryFilter) {
  const found = [];
  for (let after: bigint | undefined; ; ) {
    const { deliveries, next } = await listDeliveries(pool, systemClock, filter, { limit: 100, after });
    found.push(...deliveries);
    if (next === null || found.length >= 1_000) return { found, isWhole: next === null };
    after = next;
  }
}

/** The same by brute force. */
const expected = async (condition: string, values: unknown[] = []) => {
  const text = `
    SELECT e.id FROM events e JOIN payments p ON p.id = e.payment_id AND p.partner_id = e.partner_id AND p.mode = e.mode
      LEFT JOIN deliveries d ON d.event_id = e.id WHERE ${condition} ORDER BY e.id DESC`;
  return (await pool.query(text, values)).rows.map(({ id }) => id);
};

describe('what is listed', () => {
  test.each(lists)('%s, newest first, each once', async (_name, filter, condition, values) => {
    const wanted = await expected(condition, values);
    expect(wanted.length).toBeGreaterThan(0);
    const { found, isWhole } = await pages(filter);
    expect(found.map(({ eventId }) => eventId)).toEqual(isWhole ? wanted : wanted.slice(0, found.length));
  });

  test('a delivery with its last attempt', async () => {
    const [pending] = (
      await listDeliveries(pool, systemClock, { partnerId: quiet, state: 'pending' }, { limit: 1 })
    ).deliveries;
    expect(pending).toMatchObject({
      ...{ partnerId: quiet, partnerName: 'Shop 6', state: 'pending', attempts: 2 },
      ...{ nextAt: expect.any(Date), lastAttempt: { status: null, error: 'refused' } },
    });
    const [last] = (await listDeliveries(pool, systemClock, { state: 'delivered' }, { limit: 1 })).deliveries;
    const once = { state: 'delivered', attempts: 1, nextAt: null, lastAttempt: { status: 200 } };
    expect(last).toMatchObject(once);
    expect(delivered.rowCount).toBeGreaterThan(12_000);
  });

  test('sent again after its delivery, it is pending; and an event without a webhook is not listed', async () => {
    const newestOf = async (partnerId: Id<'prt'>) =>
      (await listDeliveries(pool, systemClock, { partnerId }, { limit: 1 })).deliveries[0]!;
    const { eventId } = await newestOf(quiet);
    await pool.query(
      `INSERT INTO deliveries (endpoint_id, partner_id, event_id, mode, payment_id, next_at)
       SELECT partner_id, partner_id, id, mode, payment_id, now() FROM events WHERE id = $1`,
      [eventId],
    );
    expect(await newestOf(quiet)).toMatchObject({ eventId, state: 'pending', attempts: 0 });
    await pool.query('DELETE FROM deliveries WHERE event_id = $1', [eventId]);

    await pool.query('DELETE FROM endpoints WHERE endpoint_id = $1', [uuidFromId(partners[9]!)]);
    await pool.query(
      `INSERT INTO events (partner_id, mode, payment_id, at)
       SELECT partner_id, mode, id, now() FROM payments WHERE partner_id = $1 AND NOT rejected LIMIT 1`,
      [uuidFromId(partners[9]!)],
    );
    const { rows } = await pool.query('SELECT max(id) AS id FROM events');
    expect((await newestOf(partners[9]!)).eventId).toBeLessThan(rows[0].id);
    const none = { delivery: { state: 'none', attempts: 0 }, attempts: [] };
    expect(await findDelivery(pool, partners[9]!, rows[0].id)).toMatchObject(none);
    expect(await findDelivery(pool, quiet, rows[0].id)).toBeUndefined();
  });
});

describe('what a partner searches for', () => {
  const account = { partnerId: quiet, mode: 'live' } as const;
  const listed = async (text: string, more: DeliveryFilter = {}) => {
    const eventIds = await findEventsOf(pool, account, text);
    const filter = { ...more, partnerId: quiet, eventIds };
    return (await listDeliveries(pool, systemClock, filter, { limit: 50 })).deliveries;
  };

  test('the number of an order, a payment or an event', async () => {
    const { found } = await pages({ partnerId: quiet, mode: 'live' });
    const one = found.find(({ externalId }) => externalId !== null)!;
    for (const text of [one.externalId!, one.paymentId, `evt_${one.eventId}`])
      expect(await listed(text), text).toEqual([one]);
    expect(await listed(one.externalId!, { mode: 'test' })).toEqual([]);
  });

  test('what there is not, or belongs to another partner, is not found', async () => {
    const [foreign] = (await pages({ partnerId: partners[8]! })).found;
    for (const text of ['no such order', 'evt_999999999', `evt_${foreign!.eventId}`, foreign!.paymentId])
      expect(await listed(text), text).toEqual([]);
  });

  test('along indexes', async () => {
    const { db, blocks, scanned } = explaining(pool);
    const eventIds = await findEventsOf(db, account, 'order-906');
    await listDeliveries(db, systemClock, { partnerId: quiet, eventIds }, { limit: 50 });
    expect(scanned().filter(table => large.test(table))).toEqual([]);
    expect(Math.max(...blocks()), `${blocks()}`).toBeLessThan(3_000);
  });
});

test('what failed at a suspended endpoint is found without reading all that waits there', async () => {
  const { db, blocks } = explaining(pool);
  const filter: DeliveryFilter = { partnerId: suspended, state: 'failed' };
  expect((await listDeliveries(db, systemClock, filter, { limit: 50 })).next).toBeNull();
  expect(blocks()).toHaveLength(1);
});

test('what failed is counted by the same filter', async () => {
  const { found } = await pages({ state: 'failed' });
  expect(await countFailed(pool, systemClock, {})).toEqual({ count: found.length, isComplete: true });
  const own = found.filter(({ partnerId }) => partnerId === quiet);
  expect((await countFailed(pool, systemClock, { partnerId: quiet, state: 'pending' })).count).toBe(
    own.length,
  );
});

test('endpoints: suspended, failing and active', async () => {
  await pool.query('DELETE FROM deliveries WHERE partner_id = $1', [uuidFromId(partners[7]!)]);
  const states = async (...ids: Id<'prt'>[]) =>
    Array.from((await listEndpoints(pool, systemClock, ids)).values(), ({ state }) => state);
  expect(await states(suspended)).toEqual(['suspended']);
  expect(await states(quiet)).toEqual(['failing']);
  expect(await states(partners[7]!)).toEqual(['active']);
  await pool.query('UPDATE endpoints SET given_up = 1 WHERE endpoint_id = $1', [uuidFromId(partners[7]!)]);
  expect(await states(partners[7]!)).toEqual(['failing']);
  expect(await states()).toEqual([]);
});
