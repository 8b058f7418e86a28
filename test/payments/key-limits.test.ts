import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newId, uuidFromId } from '../../src/base/ids.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { type Mode, verifyLedger } from '../../src/ledger/index.ts';
import { setLimits } from '../../src/partners/index.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { endOfTime, manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { openingsOf } from '../helpers/openings.ts';
import { auditContextOf, createFundedPartner, setRate } from '../helpers/partners.ts';
import { createRandom } from '../helpers/random.ts';

const { pool } = await createDatabase();
await setRate(pool);
const dayMs = 86_400_000;

async function startWorld() {
  const clock = manualClock('2026-11-15T22:00:00Z');
  const opening = await openingsOf(pool, clock);
  const partnerId = await createFundedPartner(pool, 10n ** 12n);
  await setLimits(auditContextOf(pool), partnerId, { concurrent: 1_000_000 });
  const writer = createPaymentWriter(pool, clock);
  const keyId = randomUUID();
  /** A payment of 100 rubles with a key that may spend this much a day. */
  const payment = (dailyKopecks: bigint, more: object = {}) =>
    opening(partnerId, {
      paymentId: newId('pay', clock),
      idempotencyKey: randomUUID(),
      amountKopecks: 10_000n,
      rateStaleAt: new Date('2030-01-01'),
      keyLimit: { keyId, dailyKopecks },
      ...more,
    });
  return { clock, partnerId, writer, keyId, payment };
}

const spentToday = async (keyId: string) =>
  (await pool.query('SELECT kopecks FROM key_turnovers WHERE key_id = $1', [keyId])).rows[0]?.kopecks ?? 0n;

const count = (verdicts: string[]) =>
  Object.fromEntries(
    Array.from(
      Map.groupBy(verdicts, verdict => verdict),
      ([verdict, all]) => [verdict, all.length],
    ),
  );

describe('the daily limit of a key', () => {
  test.each(['test', 'live'] as const)(
    'is not passed by 50 payments at once from two processes (%s)',
    async mode => {
      const { clock, writer, keyId, payment } = await startWorld();
      const otherPool = openPool({ ...pool.options }, 4);
      const other = createPaymentWriter(otherPool, clock);
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, nth) => (nth % 2 ? writer : other).open(payment(70_000n, { mode }))),
      );
      await otherPool.end();
      expect(count(results.map(({ verdict }) => verdict))).toEqual({
        opened: 7,
        key_daily_limit_exceeded: 43,
      });
      expect(await spentToday(keyId)).toBe(70_000n);
      expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
    },
  );

  test('leaves no trace of a payment beyond it', async () => {
    const { writer, payment, partnerId } = await startWorld();
    const beyond = payment(9_999n);
    expect((await writer.open(beyond)).verdict).toBe('key_daily_limit_exceeded');
    const { rows } = await pool.query(
      `SELECT (SELECT count(*) FROM payments WHERE partner_id = a.partner_id) + (SELECT count(*) FROM open_payments
                WHERE partner_id = a.partner_id) AS payments, a.held, a.turnover_kopecks
         FROM accounts a WHERE partner_id = $1 AND mode = 'live'`,
      [uuidFromId(partnerId)],
    );
    expect(rows[0]).toMatchObject({ payments: 0n, held: 0n });
    // Its code and its idempotency key are free.
    expect(
      (await writer.open({ ...beyond, keyLimit: { keyId: 'other', dailyKopecks: 10_000n } })).verdict,
    ).toBe('opened');
  });

  test('is exact to the kopeck, and counts again from midnight UTC', async () => {
    const { clock, writer, payment } = await startWorld();
    expect((await writer.open(payment(20_000n))).verdict).toBe('opened');
    expect((await writer.open(payment(19_999n))).verdict).toBe('key_daily_limit_exceeded');
    expect((await writer.open(payment(20_000n))).verdict).toBe('opened');
    expect((await writer.open(payment(20_000n, { amountKopecks: 1n }))).verdict).toBe(
      'key_daily_limit_exceeded',
    );
    clock.advance(2 * 3_600_000);
    expect((await writer.open(payment(10_000n))).verdict).toBe('opened');
  });

  test('counts what failed no more, and what succeeded for the rest of the day', async () => {
    const { writer, payment, partnerId } = await startWorld();
    const [first, second] = [payment(20_000n), payment(20_000n)];
    await writer.open(first);
    await writer.open(second);
    expect((await writer.open(payment(20_000n))).verdict).toBe('key_daily_limit_exceeded');
    const finish = { partnerId, mode: 'live' as Mode };
    await writer.finish({ ...finish, paymentId: first.paymentId, outcome: 'succeeded' });
    expect((await writer.open(payment(20_000n))).verdict).toBe('key_daily_limit_exceeded');
    await writer.finish({
      ...finish,
      paymentId: second.paymentId,
      outcome: 'rejected',
      code: 'gateway_busy',
    });
    expect((await writer.open(payment(20_000n))).verdict).toBe('opened');
    expect((await writer.open(payment(20_000n))).verdict).toBe('key_daily_limit_exceeded');
  });

  test('does not hide the payment of an idempotency key, and comes after the other refusals', async () => {
    const { writer, payment } = await startWorld();
    const first = payment(10_000n);
    await writer.open(first);
    const repeated = await writer.open({ ...first, paymentId: payment(0n).paymentId });
    expect(repeated).toMatchObject({ verdict: 'known', paymentId: first.paymentId });
    const beyond = (more: object) => writer.open(payment(1n, more)).then(({ verdict }) => verdict);
    expect(await beyond({ rateStaleAt: new Date(0) })).toBe('rate_unavailable');
    expect(await beyond({ qrcId: first.qrcId })).toBe('duplicate_qr_in_flight');
    expect(await beyond({ microUsdt: 10n ** 17n })).toBe('insufficient_balance');
    expect(await beyond({})).toBe('key_daily_limit_exceeded');
  });

  test('counts a refused payment not at all, nor a test payment that failed', async () => {
    const { writer, payment, keyId } = await startWorld();
    expect((await writer.open(payment(10_000n, { microUsdt: 10n ** 17n }))).verdict).toBe(
      'insufficient_balance',
    );
    const ending = { outcome: 'failed', code: 'gateway_declined' };
    expect((await writer.open(payment(10_000n, { mode: 'test', ending }))).verdict).toBe('opened');
    expect(await spentToday(keyId)).toBe(0n);
    expect(
      (await writer.open(payment(10_000n, { mode: 'test', ending: { outcome: 'succeeded' } }))).verdict,
    ).toBe('opened');
    expect(await spentToday(keyId)).toBe(10_000n);
  });

  test('does not bind other keys of the partner', async () => {
    const { writer, payment } = await startWorld();
    await writer.open(payment(10_000n));
    expect((await writer.open(payment(0n, { keyLimit: undefined }))).verdict).toBe('opened');
    const otherKey = { keyId: 'another', dailyKopecks: 10_000n };
    expect((await writer.open(payment(0n, { keyLimit: otherKey }))).verdict).toBe('opened');
  });
});

test.each([1, 2, 3])('the sums of keys follow everything that happens (seed %i)', async seed => {
  const { clock, writer, payment, partnerId, keyId } = await startWorld();
  const random = createRandom(seed);
  const keys = [keyId, `${keyId} second`];
  const limit = 60_000n;
  const booked: {
    keyId: string;
    paymentId: `pay_${string}`;
    kopecks: bigint;
    createdMs: number;
    counts: boolean;
    open: boolean;
  }[] = [];
  const dayOf = (ms: number) => Math.floor(ms / dayMs);
  const spent = (key: string) =>
    booked
      .filter(one => one.keyId === key && one.counts && dayOf(one.createdMs) === dayOf(clock.nowMs()))
      .reduce((sum, { kopecks }) => sum + kopecks, 0n);
  for (let nth = 0; nth < 120; nth++) {
    const step = random.between(1, 10);
    if (step <= 6) {
      const key = random.pick(keys);
      const kopecks = BigInt(random.between(1, 300) * 100);
      const item = payment(0n, { amountKopecks: kopecks, keyLimit: { keyId: key, dailyKopecks: limit } });
      const fits = spent(key) + kopecks <= limit;
      expect((await writer.open(item)).verdict).toBe(fits ? 'opened' : 'key_daily_limit_exceeded');
      if (fits)
        booked.push({
          keyId: key,
          paymentId: item.paymentId,
          kopecks,
          createdMs: clock.nowMs(),
          counts: true,
          open: true,
        });
    } else if (step <= 9) {
      for (const one of random.shuffle(booked.filter(({ open }) => open)).slice(0, 2)) {
        one.counts = random.chance(0.5);
        one.open = false;
        const finished = { partnerId, mode: 'live' as Mode, paymentId: one.paymentId };
        await writer.finish(
          one.counts
            ? { ...finished, outcome: 'succeeded' }
            : { ...finished, outcome: 'failed', code: 'gateway_declined' },
        );
      }
    } else clock.advance(random.between(1, 8 * 3_600_000));
  }
  expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
});
