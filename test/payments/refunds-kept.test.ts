import { beforeAll, describe, expect, test } from 'vitest';
import { Kopeck } from '../../sdk/src/index.ts';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { bookRefunds } from '../../src/payments/refunds/book.ts';
import { issueKey, partnerAt, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { holdLocks } from '../helpers/locks.ts';
import { findingsAfter } from '../helpers/rolled-back.ts';
import { createRefundsWorld } from './refunds-world.ts';

const { pool, url } = await createDatabase({ limits: { lock_timeout: 1_000 } });
const world = await createRefundsWorld(pool);
const { pay, refund, round, booked, bookedSum, alarms, findings, clock, depsOn } = world;
const minuteMs = 60_000;

let partnerId: Id<'prt'>;
beforeAll(async () => {
  partnerId = await world.newPartner();
  const payment = await pay(partnerId, { amountKopecks: 10_000n });
  refund(payment.paymentId, 4_000);
  refund(payment.paymentId, 3_000);
  await round();
});

describe('verification finds', () => {
  const unguarded = [
    'SET LOCAL session_replication_role = replica',
    'ALTER TABLE refunds DISABLE TRIGGER ALL',
  ];
  const which = `WHERE refund_id = (SELECT max(refund_id) FROM refunds WHERE micro_usdt > 10 AND total_kopecks > amount_kopecks)`;

  test.each([
    ['a refund without its entry', `UPDATE refunds SET entry_no = 99999 ${which}`, /has its entry/],
    ['another amount', `UPDATE refunds SET micro_usdt = micro_usdt - 1 ${which}`, /has its entry/],
    [
      'a wrong total',
      `UPDATE refunds SET total_kopecks = total_kopecks + 1 ${which}`,
      /add up to their totals/,
    ],
    ['a missing refund', `DELETE FROM refunds ${which}`, /has its entry/],
    [
      'more than was paid',
      `UPDATE payments SET amount_kopecks = 1 WHERE id IN (SELECT payment_id FROM refunds)`,
      /never more than was paid/,
    ],
    [
      'a payment that did not succeed',
      `UPDATE payments SET status = 'failed', error_code = 'x' WHERE id IN (SELECT payment_id FROM refunds)`,
      /payments that succeeded/,
    ],
  ])('%s', async (_case, sql, invariant) => {
    const found = await findingsAfter(pool, [...unguarded, sql], new Date(clock.nowMs()));
    expect(found.map(finding => finding.invariant).join()).toMatch(invariant);
  });
});

test('rows are never changed or removed', async () => {
  await expect(pool.query('UPDATE refunds SET micro_usdt = 0')).rejects.toThrow('only ever added');
  await expect(pool.query('DELETE FROM refunds')).rejects.toThrow('only ever added');
  await expect(pool.query('TRUNCATE refunds')).rejects.toThrow('only ever added');
  const id = uuidFromId(partnerId);
  await expect(
    pool.query(`INSERT INTO refunds SELECT $1, 'test', $1, 'x', 1, 0, 1, 0, NULL, 0, now(), now()`, [id]),
  ).rejects.toThrow('refunds_of_the_gateway_are_live');
});

test('a gateway without the list is no error, but one that has had it is', async () => {
  await pool.query('UPDATE service SET refunds_read_to = NULL');
  const withoutList = { gateway: { listRefunds: async () => undefined } };
  expect(await round(withoutList)).toBe('no_list');
  refund((await pay(partnerId)).paymentId, 1);
  await round();
  await expect(round(withoutList)).rejects.toThrow('had a list of refunds');
});

test('an account that cannot be written now holds up no other partner, nor a later page', async () => {
  const [locked, other] = [await pay(await world.newPartner()), await pay(partnerId)];
  clock.advance(3 * 60 * minuteMs);
  const waits = refund(locked.paymentId, 5);
  clock.advance(3 * 60 * minuteMs);
  const pages: Record<string, object> = {
    first: { refunds: [waits], nextCursor: 'second' },
    second: { refunds: [refund(other.paymentId, 6)], nextCursor: null },
  };
  let listedSince = clock.nowMs();
  const gateway = {
    listRefunds: async (since: Date, cursor = 'first') => {
      listedSince = since.getTime();
      return pages[cursor] as never;
    },
  };
  const { unlock } = await holdLocks(url, 'SELECT FROM accounts WHERE partner_id = $1 FOR UPDATE', [
    uuidFromId(locked.partnerId),
  ]);
  await expect(round({ gateway })).rejects.toThrow('lock timeout');
  expect([await booked(locked.paymentId), (await booked(other.paymentId)).length]).toEqual([[], 1]);
  expect(await alarms()).not.toContainEqual(expect.stringContaining('refund_not_booked'));
  await unlock();
  await round({ gateway });
  expect(await booked(locked.paymentId)).toHaveLength(1);
  // The list began with the refund that waited, not weeks ago as once an hour.
  expect(listedSince).toBe(waits.createdAt.getTime() - 60 * minuteMs);
});

test('one that another process has booked since the list was begun is not missing', async () => {
  const payment = await pay(partnerId);
  const made = refund(payment.paymentId, 7, { createdAt: new Date(clock.nowMs() - 20 * minuteMs) });
  clock.advance(2 * 60 * minuteMs);
  const list = async (since: Date) => {
    const { refunds } = (await world.gateway.listRefunds(since))!;
    clock.advance(1_000);
    await bookRefunds(depsOn(pool), [made]);
    return { refunds: refunds.filter(({ refundId }) => refundId !== made.refundId), nextCursor: null };
  };
  await round({ gateway: { listRefunds: list } });
  expect(await booked(payment.paymentId)).toHaveLength(1);
  expect(await alarms()).not.toContain(`refund_revoked ${made.refundId}`);
});

test('pages are read to the end, and a list without an end is refused', async () => {
  const payment = await pay(partnerId);
  const made = [1, 2, 3].map(kopecks => refund(payment.paymentId, kopecks));
  const pages: Record<string, object> = {
    start: { refunds: [made[0]], nextCursor: 'b' },
    b: { refunds: [made[0], made[1]], nextCursor: 'c' },
    c: { refunds: [made[2]], nextCursor: null },
    endless: { refunds: [made[2]], nextCursor: 'endless' },
  };
  const from = (first: string) => ({
    gateway: { listRefunds: async (_since: Date, cursor = first) => pages[cursor] as never },
  });
  await round(from('start'));
  expect(await bookedSum(payment.paymentId)).toMatchObject([6, expect.any(Number)]);
  await expect(round(from('endless'))).rejects.toThrow('has no end');
});

test('an archived payment is refunded as any other', async () => {
  const owner = await world.newPartner();
  const payment = await pay(owner);
  world.at('2026-04-20T10:00:00Z');
  await pay(owner);
  await world.archive('2026-03');
  expect((await world.rowsOf(owner)).archived).toEqual([1, 1, 4]);
  refund(payment.paymentId, Number(payment.amountKopecks) - 1);
  await round();
  refund(payment.paymentId, 1);
  await round();
  expect(await bookedSum(payment.paymentId)).toEqual([
    Number(payment.amountKopecks),
    Number(payment.microUsdt),
  ]);
  world.at('2026-07-20T10:00:00Z');
  await pay(owner);
  await world.archive('2026-06');
  refund(payment.paymentId, 1);
  await round();
  expect(await findings()).toEqual([]);
});

test('the feed goes on after refunds whose payments were dropped with their month', async () => {
  const { pool } = await createDatabase();
  const { pay, refund, round, archive, dropMonth, at, clock, newPartner, findings } =
    await createRefundsWorld(pool);
  const { address } = await startApi({ pool, clock });
  const partnerId = await newPartner();
  for (let nth = 0; nth < 5; nth++) {
    const payment = await pay(partnerId);
    refund(payment.paymentId, Number(payment.amountKopecks));
  }
  await round();
  at('2026-03-10T00:00:00Z');
  await archive('2026-02');
  await dropMonth('2026-01');
  const later = [await pay(partnerId), await pay(partnerId)];
  refund(later[0]!.paymentId, 100);
  await round();

  const key = await issueKey(pool, partnerId, 'live');
  const partner = partnerAt(address, key);
  const seen: string[] = [];
  let after = 'evt_0';
  for (let hasMore = true; hasMore; ) {
    const { status, json } = await partner.get(
      `/v1/events?extra_events=payment.refunded&limit=2&after=${after}`,
    );
    expect(status).toBe(200);
    // Each page goes on, also one that can show nothing.
    expect(json.next_cursor).not.toBe(after);
    seen.push(
      ...json.data.map((event: { event: string; data: { id: string } }) => `${event.event} ${event.data.id}`),
    );
    ({ next_cursor: after, has_more: hasMore } = json);
  }
  const expected = [
    ...later.map(({ paymentId }) => `payment.succeeded ${paymentId}`),
    `payment.refunded ${later[0]!.paymentId}`,
  ];
  expect(seen).toEqual(expected);

  // A position on what cannot be listed is still one, whichever events a reader asks for.
  const { next_cursor: among } = (await partner.get('/v1/events?extra_events=payment.refunded&limit=2')).json;
  expect((await partner.get(`/v1/events?after=${among}`)).json.data).toHaveLength(2);

  const { fetch } = globalThis;
  const small: typeof fetch = (url, init) => fetch(`${url}`.replace('limit=100', 'limit=2'), init);
  const kopeck = new Kopeck({ apiKey: key, baseUrl: address, fetch: small });
  const read: string[] = [];
  for await (const event of kopeck.events.read({ follow: false, extraEvents: 'payment.refunded' }))
    read.push(`${event.event} ${event.data.id}`);
  expect(read).toEqual(expected);
  expect(await findings()).toEqual([]);
});
