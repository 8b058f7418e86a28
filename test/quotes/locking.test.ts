import { describe, expect, test } from 'vitest';
import { pruneQuotes, readExposure } from '../../src/payments/index.ts';
import { countWaiting, follow } from '../helpers/locks.ts';
import { countEach } from '../helpers/openings.ts';
import { startQuotesWorld } from './quotes-world.ts';

const { pool, clock, writer, lockerWith, termsOf, lock, paymentWith, newPartner, openOther } =
  await startQuotesWorld();
const one = termsOf(await newPartner()).microUsdt;
const plenty = 10n ** 15n;
/** Nothing that another test has locked is left. */
const letExpire = () => clock.advance(60_000);
const outcomeOf = (locking: Awaited<ReturnType<ReturnType<typeof lockerWith>['lock']>>) =>
  locking.outcome === 'refused' ? locking.code : locking.outcome;

describe('what may be locked', () => {
  test.each(['live', 'test'] as const)(
    'of a partner is not passed by 40 quotes at once from two processes (%s)',
    async mode => {
      letExpire();
      const limits = { maxMicroUsdtOfPartner: 7n * one, maxMicroUsdt: plenty };
      const partnerId = await newPartner();
      const lockAll = (locker: ReturnType<typeof lockerWith>) =>
        Promise.all(Array.from({ length: 20 }, () => locker.lock(termsOf(partnerId, { mode }))));
      const session = await (await openOther()).connect();
      await session.query('BEGIN');
      const others = await lockAll(lockerWith(limits, session));
      const own = follow(lockAll(lockerWith(limits)));
      await expect.poll(async () => own.hasEnded || (await countWaiting(pool)) === 1).toBe(true);
      await session.query('COMMIT');
      session.release();
      const lockings = [...others, ...(await own.result)];
      expect(countEach(lockings.map(outcomeOf))).toEqual({ locked: 7, quote_limit_exceeded: 33 });
      // The other mode has a sum of its own.
      const other = mode === 'live' ? 'test' : 'live';
      expect(outcomeOf(await lockerWith(limits).lock(termsOf(partnerId, { mode: other })))).toBe('locked');
    },
  );

  test('of all partners is not passed by many at once, and test quotes do not count', async () => {
    letExpire();
    const partners = await Promise.all(Array.from({ length: 4 }, () => newPartner()));
    const limits = { maxMicroUsdtOfPartner: plenty, maxMicroUsdt: 5n * one };
    const lockers = [lockerWith(limits), lockerWith(limits)];
    const lockAll = async (mode: 'live' | 'test') =>
      countEach(
        (
          await Promise.all(
            partners.flatMap(partnerId =>
              Array.from({ length: 6 }, (_, nth) => lockers[nth % 2]!.lock(termsOf(partnerId, { mode }))),
            ),
          )
        ).map(outcomeOf),
      );
    expect(await lockAll('test')).toEqual({ locked: 24 });
    expect(await lockAll('live')).toEqual({ locked: 5, quote_limit_exceeded: 19 });
    expect(await readExposure(pool, clock)).toEqual({ microUsdt: 5n * one, quotes: 5 });
  });

  test('is free again when a quote is used or expires, and taken again when its payment is undone', async () => {
    letExpire();
    const partnerId = await newPartner();
    const below = lockerWith({ maxMicroUsdtOfPartner: one - 1n });
    expect(outcomeOf(await below.lock(termsOf(partnerId)))).toBe('quote_limit_exceeded');
    const { lock: lockOne } = lockerWith({ maxMicroUsdtOfPartner: one });
    const first = await lockOne(termsOf(partnerId));
    if (first.outcome !== 'locked') throw new Error(first.code);
    const payment = paymentWith(partnerId, first.quote);
    await writer.open(payment);
    expect((await readExposure(pool, clock, { partnerId, mode: 'live' })).quotes).toBe(0);
    expect(outcomeOf(await lockOne(termsOf(partnerId)))).toBe('locked');
    const rejected = { outcome: 'rejected', code: 'gateway_busy' } as const;
    await writer.finish({ partnerId, mode: 'live', paymentId: payment.paymentId, ...rejected });
    expect(await readExposure(pool, clock, { partnerId, mode: 'live' })).toEqual({
      microUsdt: 2n * one,
      quotes: 2,
    });
    expect(outcomeOf(await lockOne(termsOf(partnerId)))).toBe('quote_limit_exceeded');
    letExpire();
    expect(outcomeOf(await lockOne(termsOf(partnerId)))).toBe('locked');
  });
});

test('a rate that has become stale on the way is not locked', async () => {
  letExpire();
  const partnerId = await newPartner();
  const stale = termsOf(partnerId, { rateStaleAt: new Date(clock.nowMs() - 1) });
  expect(outcomeOf(await lockerWith().lock(stale))).toBe('rate_unavailable');
  const justFresh = termsOf(partnerId, { rateStaleAt: new Date(clock.nowMs()) });
  expect(outcomeOf(await lockerWith().lock(justFresh))).toBe('locked');
});

test('unused quotes go an hour after they expire, used ones after a year', async () => {
  letExpire();
  const partnerId = await newPartner();
  const [used, unused] = [await lock(partnerId), await lock(partnerId)];
  await writer.open(paymentWith(partnerId, used));
  const left = async () => {
    await pruneQuotes(pool, clock);
    const { rows } = await pool.query<{ used: boolean }>(
      'SELECT payment_id IS NOT NULL AS used FROM locked_quotes',
    );
    return countEach(rows.map(row => (row.used ? 'used' : 'unused')));
  };
  clock.advance(unused.expiresAt.getTime() + 3_600_000 - clock.nowMs());
  expect((await left()).unused).toBe(1);
  clock.advance(1);
  expect((await left()).unused).toBeUndefined();
  clock.advance(365 * 86_400_000);
  expect((await left()).used).toBeGreaterThan(0);
  clock.advance(2 * 86_400_000);
  expect(await left()).toEqual({});
});
