import { beforeAll, expect, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { bookRefunds } from '../../src/payments/refunds/book.ts';
import { createDatabase } from '../helpers/database.ts';
import { holdLocks } from '../helpers/locks.ts';
import { createRefundsWorld } from './refunds-world.ts';

const { pool, url } = await createDatabase();
const world = await createRefundsWorld(pool);
const { pay, refund, round, booked, bookedSum, alarms, clock, depsOn } = world;
const minuteMs = 60_000;

let partnerId: Id<'prt'>;
beforeAll(async () => {
  partnerId = await world.newPartner();
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
