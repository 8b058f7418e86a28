import { randomUUID } from 'node:crypto';
import { test as base, describe, expect } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { countWaiting, holdLocks } from '../helpers/locks.ts';
import { countEach } from '../helpers/openings.ts';
import { startQuotesWorld } from './quotes-world.ts';

const world = await startQuotesWorld();
const { pool, url, clock, writer, lock, paymentWith, newPartner, usedBy, findings, expectNoPayment } = world;
const ending = { outcome: 'succeeded' } as const;
const test = base.extend('partnerId', () => newPartner());

describe('a locked quote', () => {
  test.each([
    ['live', {}],
    ['test', {}],
    ['test', { ending }],
  ] as const)('is used by the payment that is opened with it (%s, %j)', async (mode, more) => {
    const partnerId = await newPartner();
    const quote = await lock(partnerId, { mode });
    const payment = paymentWith(partnerId, quote, { mode, ...more });
    expect(await writer.open(payment)).toMatchObject({ verdict: 'opened', paymentId: payment.paymentId });
    expect(await usedBy(quote)).toBe(uuidFromId(payment.paymentId));
    const { rows } = await pool.query('SELECT rate_e4, micro_usdt FROM payments WHERE id = $1', [
      uuidFromId(payment.paymentId),
    ]);
    expect(rows).toEqual([{ rate_e4: 920_375n, micro_usdt: quote.microUsdt }]);
    expect((await writer.open(paymentWith(partnerId, quote, { mode, ...more }))).verdict).toBe('quote_used');
    expect(await findings()).toEqual([]);
  });

  test.for(['live', 'test'] as const)(
    'opens one payment of 20 at once from two processes, round after round (%s)',
    async (mode, { partnerId }) => {
      const writers = [writer, createPaymentWriter(await world.openOther(), clock)];
      for (let round = 0; round < 8; round++) {
        const quote = await lock(partnerId, { mode });
        const results = await Promise.all(
          Array.from({ length: 20 }, (_, nth) =>
            writers[nth % 2]!.open(
              paymentWith(partnerId, quote, { mode, ...(mode === 'test' && { ending }) }),
            ),
          ),
        );
        expect(countEach(results.map(({ verdict }) => verdict))).toEqual({ opened: 1, quote_used: 19 });
        const opened = results.find(({ verdict }) => verdict === 'opened')!.paymentId!;
        expect(await usedBy(quote)).toBe(uuidFromId(opened));
      }
      expect(await findings()).toEqual([]);
    },
  );

  test('is not used by a payment that is refused', async () => {
    const partnerId = await newPartner({}, 2_000_000n);
    const [small, large] = [await lock(partnerId), await lock(partnerId, { amountKopecks: 1_000_000n })];
    const refused = await writer.open(paymentWith(partnerId, large));
    expect(refused).toMatchObject({ verdict: 'insufficient_balance', balanceMicroUsdt: 2_000_000n });
    expect(await usedBy(large)).toBeNull();
    await expectNoPayment(partnerId);
    expect((await writer.open(paymentWith(partnerId, small))).verdict).toBe('opened');
  });

  test('can be used again once its payment was undone, and not after it has failed', async () => {
    const partnerId = await newPartner();
    const quote = await lock(partnerId);
    const end = { partnerId, mode: 'live' } as const;
    const [undone, failing] = [paymentWith(partnerId, quote), paymentWith(partnerId, quote)];
    await writer.open(undone);
    await writer.finish({ ...end, paymentId: undone.paymentId, outcome: 'rejected', code: 'gateway_busy' });
    expect((await writer.open(failing)).verdict).toBe('opened');
    expect(await usedBy(quote)).toBe(uuidFromId(failing.paymentId));
    const failed = { outcome: 'failed', code: 'gateway_declined' } as const;
    await writer.finish({ ...end, paymentId: failing.paymentId, ...failed });
    expect((await writer.open(paymentWith(partnerId, quote))).verdict).toBe('quote_used');
  });

  test('holds up to the millisecond before it expires', async ({ partnerId }) => {
    const [used, late] = [await lock(partnerId), await lock(partnerId)];
    clock.advance(used.expiresAt.getTime() - clock.nowMs() - 1);
    expect((await writer.open(paymentWith(partnerId, used))).verdict).toBe('opened');
    clock.advance(1);
    expect((await writer.open(paymentWith(partnerId, late))).verdict).toBe('quote_expired');
    expect(await usedBy(late)).toBeNull();
  });

  test('that expires while its payment waits behind another batch is refused', async () => {
    const [slow, partnerId] = [await newPartner(), await newPartner()];
    const [first, second] = [await lock(slow), await lock(partnerId)];
    const account = "SELECT FROM accounts WHERE partner_id = $1 AND mode = 'live' FOR UPDATE";
    const { unlock } = await holdLocks(url, account, [uuidFromId(slow)]);
    const waiting = writer.open(paymentWith(slow, first));
    await clock.until(async () => expect(await countWaiting(pool)).toBe(1));
    const behind = writer.open(paymentWith(partnerId, second));
    clock.advance(60_000);
    await unlock();
    // Its statement was sent in time.
    expect((await waiting).verdict).toBe('opened');
    expect((await behind).verdict).toBe('quote_expired');
  });

  test('of another partner is as unknown as one that never was', async () => {
    const [owner, other] = [await newPartner(), await newPartner()];
    const quote = await lock(owner);
    expect((await writer.open(paymentWith(other, quote))).verdict).toBe('quote_not_found');
    await pool.query('DELETE FROM locked_quotes WHERE id = $1', [uuidFromId(quote.quoteId)]);
    expect((await writer.open(paymentWith(owner, quote))).verdict).toBe('quote_not_found');
    await expectNoPayment(other);
    await expectNoPayment(owner);
  });

  test.for<[what: string, verdict: string, terms: Parameters<typeof lock>[1], changes: object[]]>([
    ['the other mode is refused', 'quote_mode_mismatch', { mode: 'test' }, [{}]],
    [
      'another amount is refused, to the kopeck',
      'quote_amount_mismatch',
      {},
      [{ amountKopecks: 14_999n }, { amountKopecks: 15_001n }],
    ],
  ])('of %s', async ([_what, verdict, terms, changes], { partnerId }) => {
    const quote = await lock(partnerId, terms);
    for (const change of changes)
      expect((await writer.open(paymentWith(partnerId, quote, change))).verdict).toBe(verdict);
    await expectNoPayment(partnerId);
    expect(await usedBy(quote)).toBeNull();
  });

  test('gives no terms but its own', async ({ partnerId }) => {
    const quote = await lock(partnerId);
    for (const change of [{ rateE4: 920_376n }, { microUsdt: quote.microUsdt - 1n }])
      await expect(writer.open(paymentWith(partnerId, quote, change))).rejects.toThrow('terms of its quote');
    await expectNoPayment(partnerId);
  });

  test('does not hide the payment of an idempotency key', async ({ partnerId }) => {
    const [quote, other] = [await lock(partnerId), await lock(partnerId)];
    const first = paymentWith(partnerId, quote);
    const [opened, twin] = await Promise.all([
      writer.open(first),
      writer.open({ ...first, paymentId: paymentWith(partnerId, quote).paymentId }),
    ]);
    expect(opened).toMatchObject({ verdict: 'opened', paymentId: first.paymentId });
    expect(twin).toMatchObject({ verdict: 'known', paymentId: first.paymentId });
    clock.advance(120_000);
    const repeated = paymentWith(partnerId, other, { idempotencyKey: first.idempotencyKey });
    expect(await writer.open(repeated)).toMatchObject({ verdict: 'known', paymentId: first.paymentId });
    expect(await usedBy(other)).toBeNull();
  });
});

test('a locked quote does not raise the daily limit of a key, and is not used by a payment beyond it', async () => {
  const partnerId = await newPartner();
  const keyLimit = { keyId: randomUUID(), dailyKopecks: 30_000n };
  const quotes = await Promise.all(Array.from({ length: 5 }, () => lock(partnerId)));
  const results = await Promise.all(
    quotes.map(quote => writer.open(paymentWith(partnerId, quote, { keyLimit }))),
  );
  expect(countEach(results.map(({ verdict }) => verdict))).toEqual({
    opened: 2,
    key_daily_limit_exceeded: 3,
  });
  const used = await Promise.all(quotes.map(usedBy));
  expect(used.map(by => by !== null)).toEqual(results.map(({ verdict }) => verdict === 'opened'));
  const { rows } = await pool.query('SELECT kopecks FROM key_turnovers WHERE key_id = $1', [keyLimit.keyId]);
  expect(rows).toEqual([{ kopecks: 30_000n }]);
});
