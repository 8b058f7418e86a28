import { randomUUID } from 'node:crypto';
import { test as base, describe, expect } from 'vitest';
import { newId, uuidFromId } from '../../src/base/ids.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import type { Mode } from '../../src/ledger/index.ts';
import { countRefusal, maxRefusedKeys } from '../../src/payments/create/scenarios.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase, setRate } from '../helpers/database.ts';
import { countEach, startOpenings } from '../helpers/openings.ts';

const { pool } = await createDatabase();
await setRate(pool);
const dayMs = 86_400_000;

async function startWorld() {
  const clock = manualClock('2026-11-15T22:00:00Z');
  const { opening, writer, newPartner, findings } = await startOpenings(pool, clock);
  const partnerId = await newPartner();
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
  const open = async (...given: Parameters<typeof payment>) => (await writer.open(payment(...given))).verdict;
  return { clock, partnerId, writer, keyId, payment, open, findings };
}

const spentToday = async (keyId: string) =>
  (await pool.query('SELECT kopecks FROM key_turnovers WHERE key_id = $1', [keyId])).rows[0]?.kopecks ?? 0n;
const test = base.extend('world', () => startWorld());

describe('the daily limit of a key', () => {
  test.for(['test', 'live'] as const)(
    'is not passed by 50 payments at once from two processes (%s)',
    async (mode, { world: { clock, writer, keyId, payment, findings } }) => {
      const otherPool = openPool({ ...pool.options }, 4);
      const other = createPaymentWriter(otherPool, clock);
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, nth) => (nth % 2 ? writer : other).open(payment(70_000n, { mode }))),
      );
      await otherPool.end();
      expect(countEach(results.map(({ verdict }) => verdict))).toEqual({
        opened: 7,
        key_daily_limit_exceeded: 43,
      });
      expect(await spentToday(keyId)).toBe(70_000n);
      expect(await findings()).toEqual([]);
    },
  );

  test('leaves no trace of a payment beyond it', async ({ world: { writer, payment, partnerId } }) => {
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
    const keyLimit = { keyId: 'other', dailyKopecks: 10_000n };
    expect((await writer.open({ ...beyond, keyLimit })).verdict).toBe('opened');
  });

  test('is exact to the kopeck, and counts again from midnight UTC', async ({ world: { clock, open } }) => {
    expect(await open(20_000n)).toBe('opened');
    expect(await open(19_999n)).toBe('key_daily_limit_exceeded');
    expect(await open(20_000n)).toBe('opened');
    expect(await open(20_000n, { amountKopecks: 1n })).toBe('key_daily_limit_exceeded');
    clock.advance(2 * 3_600_000);
    expect(await open(10_000n)).toBe('opened');
  });

  test('counts what failed no more, and what succeeded for the rest of the day', async () => {
    const { writer, payment, open } = await startWorld();
    const [first, second] = [payment(20_000n), payment(20_000n)];
    await writer.open(first);
    await writer.open(second);
    expect(await open(20_000n)).toBe('key_daily_limit_exceeded');
    await writer.finish({ ...first, outcome: 'succeeded' });
    expect(await open(20_000n)).toBe('key_daily_limit_exceeded');
    await writer.finish({ ...second, outcome: 'rejected', code: 'gateway_busy' });
    expect(await open(20_000n)).toBe('opened');
    expect(await open(20_000n)).toBe('key_daily_limit_exceeded');
  });

  test('does not hide the payment of an idempotency key, and comes after the other refusals', async () => {
    const { writer, payment, open } = await startWorld();
    const first = payment(10_000n);
    await writer.open(first);
    const repeated = await writer.open({ ...first, paymentId: payment(0n).paymentId });
    expect(repeated).toMatchObject({ verdict: 'known', paymentId: first.paymentId });
    expect(await open(1n, { rateStaleAt: new Date(0) })).toBe('rate_unavailable');
    expect(await open(1n, { qrcId: first.qrcId })).toBe('duplicate_qr_in_flight');
    expect(await open(1n, { microUsdt: 10n ** 17n })).toBe('insufficient_balance');
    expect(await open(1n)).toBe('key_daily_limit_exceeded');
  });

  test('counts a refused payment not at all, nor a test payment that failed', async () => {
    const { open, keyId } = await startWorld();
    expect(await open(10_000n, { microUsdt: 10n ** 17n })).toBe('insufficient_balance');
    const ending = { outcome: 'failed', code: 'gateway_declined' };
    expect(await open(10_000n, { mode: 'test', ending })).toBe('opened');
    expect(await spentToday(keyId)).toBe(0n);
    expect(await open(10_000n, { mode: 'test', ending: { outcome: 'succeeded' } })).toBe('opened');
    expect(await spentToday(keyId)).toBe(10_000n);
  });

  test('does not bind other keys of the partner', async ({ world: { open } }) => {
    await open(10_000n);
    expect(await open(0n, { keyLimit: undefined })).toBe('opened');
    expect(await open(0n, { keyLimit: { keyId: 'another', dailyKopecks: 10_000n } })).toBe('opened');
  });
});

describe('the quota of test payments', () => {
  async function start() {
    const { clock, partnerId, payment, findings } = await startWorld();
    const processes = [1, 2].map(() => createPaymentWriter(pool, clock, { testPaymentsPerDay: 10 }));
    const make = (mode: Mode = 'test') => payment(0n, { mode, microUsdt: 1n, keyLimit: undefined });
    return { clock, partnerId, writer: processes[0]!, processes, make, findings };
  }

  test('a partner opens as many test payments a day as the quota, over all processes; live ones without limit', async () => {
    const { clock, processes, make, findings } = await start();
    const openMany = async (mode: Mode) => {
      const opening = Array.from({ length: 30 }, (_, nth) => processes[nth % 2]!.open(make(mode)));
      return countEach((await Promise.all(opening)).map(({ verdict }) => verdict));
    };
    const full = { opened: 10, daily_limit_exceeded: 20 };
    expect(await openMany('test')).toEqual(full);
    expect(await openMany('live')).toEqual({ opened: 30 });
    // An account that was never counted is counted once, with all outcomes.
    await pool.query('UPDATE accounts SET turnover_day = NULL, turnover_kopecks = 0, opened_on_day = 0');
    expect(await openMany('test')).toEqual({ daily_limit_exceeded: 30 });
    clock.advance(dayMs);
    expect(await openMany('test')).toEqual(full);
    expect(await findings()).toEqual([]);
  });

  test('a failed or rejected payment counts: its rows stay; a repeated key opens nothing and gets its payment', async () => {
    const { partnerId, writer, make } = await start();
    const payments = Array.from({ length: 10 }, () => make());
    for (const [nth, one] of payments.entries()) {
      expect((await writer.open(one)).verdict).toBe('opened');
      const key = { partnerId, mode: 'test', paymentId: one.paymentId } as const;
      await writer.finish(
        nth % 2 === 0
          ? { ...key, outcome: 'failed', code: 'gateway_declined' }
          : { ...key, outcome: 'rejected', code: 'gateway_busy' },
      );
    }
    expect((await writer.open(make())).verdict).toBe('daily_limit_exceeded');
    const [first] = payments as [(typeof payments)[0]];
    expect(await writer.open({ ...first, paymentId: make().paymentId })).toMatchObject({
      verdict: 'known',
      paymentId: first.paymentId,
    });
  });

  test('simulated refusals are remembered for a bounded number of keys', async () => {
    const { clock, partnerId } = await start();
    await countRefusal(pool, clock, partnerId, 'known');
    await pool.query(
      `INSERT INTO test_refusals (partner_id, idempotency_key, times, at)
       SELECT $1, n, 1, $2 FROM generate_series(2, $3::int) AS n`,
      [uuidFromId(partnerId), new Date(clock.nowMs()), maxRefusedKeys],
    );
    expect(await countRefusal(pool, clock, partnerId, 'new')).toBe(false);
    expect(await countRefusal(pool, clock, partnerId, 'known')).toBe(true);
    expect(await countRefusal(pool, clock, partnerId, 'known')).toBe(false);
  });
});
