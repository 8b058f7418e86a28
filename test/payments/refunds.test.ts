import { test as base, beforeAll, describe, expect } from 'vitest';
import { clearAlarmsOf } from '../../src/alarms/index.ts';
import { type Id, newId } from '../../src/base/ids.ts';
import { credit } from '../../src/ledger/index.ts';
import { bookRefunds } from '../../src/payments/refunds/book.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { createRefundsWorld } from './refunds-world.ts';

const { pool } = await createDatabase();
const world = await createRefundsWorld(pool);
const { pay, refund, round, available, booked, bookedSum, alarms, findings, clock, listed, depsOn } = world;

let partnerId: Id<'prt'>;
beforeAll(async () => {
  partnerId = await world.newPartner();
});

const minuteMs = 60_000;
/** Each by a process of its own. */
const bookAtOnce = async (refunds: typeof listed) =>
  (await Promise.all(refunds.map(one => bookRefunds(depsOn(pool), [one]))))
    .flatMap(one => one.verdicts)
    .sort();
const test = base.extend('payment', () => pay(partnerId));

describe('money comes back', () => {
  test('in parts that add up to exactly what was debited', async () => {
    const payment = await pay(partnerId, { amountKopecks: 10_000n, microUsdt: 1_081_083n });
    const before = await available(partnerId);
    refund(payment.paymentId, 3_333);
    await round();
    expect(await booked(payment.paymentId)).toEqual([[3_333, 360_324]]);
    refund(payment.paymentId, 3_333);
    refund(payment.paymentId, 3_334);
    await round();
    expect(await bookedSum(payment.paymentId)).toEqual([10_000, 1_081_083]);
    expect((await available(partnerId)) - before).toBe(1_081_083n);
    expect(await findings()).toEqual([]);
  });

  test('once, however often it is read', async ({ payment }) => {
    const before = await available(partnerId);
    refund(payment.paymentId, Number(payment.amountKopecks));
    await round();
    await round();
    clock.advance(2 * 60 * minuteMs);
    await round();
    expect((await available(partnerId)) - before).toBe(payment.microUsdt);
    expect(await alarms()).toEqual([]);
  });

  test('once, if several processes book it at the same time', async ({ payment }) => {
    const before = await available(partnerId);
    const made = refund(payment.paymentId, Number(payment.amountKopecks));
    expect(await bookAtOnce([made, made, made, made])).toEqual(['booked', 'known', 'known', 'known']);
    expect((await available(partnerId)) - before).toBe(payment.microUsdt);
  });

  test('never more than was paid, if several processes book different refunds at the same time', async () => {
    const payment = await pay(partnerId, { amountKopecks: 10_000n });
    const before = await available(partnerId);
    const made = [6_000, 6_001, 6_002].map(kopecks => refund(payment.paymentId, kopecks));
    expect(await bookAtOnce(made)).toEqual(['booked', 'too_much', 'too_much']);
    expect((await available(partnerId)) - before).toBeLessThan(payment.microUsdt);
    expect(await findings()).toEqual([]);
    await clearAll();
  });

  test('of a refund that is worth less than a millionth of a USDT, without an entry', async () => {
    const payment = await pay(partnerId, { amountKopecks: 10_000n, microUsdt: 5n });
    refund(payment.paymentId, 100);
    await round();
    expect(await booked(payment.paymentId)).toEqual([[100, 0]]);
    refund(payment.paymentId, 9_900);
    await round();
    expect(await bookedSum(payment.paymentId)).toEqual([10_000, 5]);
    expect(await findings()).toEqual([]);
  });
});

/** As an operator does it. */
async function clearAll(): Promise<void> {
  const { rows } = await pool.query<{ subject: string }>(
    'SELECT subject FROM alarms WHERE cleared_at IS NULL',
  );
  for (const { subject } of rows) await clearAlarmsOf(pool, auditContextOf(pool, clock), subject);
}

describe('an alarm, and nothing is booked', () => {
  const refuses = async (paymentId: string, kopecks: number) => {
    const before = await available(partnerId);
    const { refundId } = refund(paymentId, kopecks);
    await round();
    expect(await alarms()).toEqual([`refund_not_booked ${refundId}`]);
    expect(await available(partnerId)).toBe(before);
    await clearAll();
    await round();
    expect(await alarms()).toEqual([]);
    return refundId;
  };

  test('for more than was paid', async () => {
    const payment = await pay(partnerId, { amountKopecks: 10_000n });
    await refuses(payment.paymentId, 10_001);
    refund(payment.paymentId, 4_000);
    await round();
    await refuses(payment.paymentId, 6_001);
    expect(await bookedSum(payment.paymentId)).toMatchObject([4_000, expect.any(Number)]);
  });

  test('for a payment that is not here', async () => {
    await refuses(newId('pay', clock), 100);
    await refuses('somebody else', 100);
  });

  test('for a payment that failed', async () => {
    const payment = await world.open(partnerId);
    await world.writer.finish({ ...payment, outcome: 'failed', code: 'gateway_declined' });
    await refuses(payment.paymentId, 100);
  });

  test('for an id that is booked with another amount or payment', async () => {
    const [one, other] = [await pay(partnerId), await pay(partnerId)];
    const { refundId } = refund(one.paymentId, 100);
    await round();
    const before = await available(partnerId);
    for (const change of [
      { paymentId: one.paymentId, amountKopecks: 101n },
      { paymentId: other.paymentId, amountKopecks: 100n },
    ]) {
      const contradiction = { ...listed.at(-1)!, ...change };
      expect((await bookRefunds(depsOn(pool), [contradiction])).verdicts).toEqual(['conflict']);
    }
    expect(await alarms()).toEqual([`refund_not_booked ${refundId}`]);
    expect(await available(partnerId)).toBe(before);
    await clearAll();
  });

  test('until it is booked, also by a process that died before it could clear the alarm', async () => {
    const payment = await pay(partnerId);
    const made = refund(payment.paymentId, 100);
    const deps = depsOn(pool);
    const alarm = { kind: 'refund_not_booked', subject: made.refundId, detail: 'not here yet' };
    await deps.alarms.raise(alarm);
    const dying = { ...deps, alarms: { ...deps.alarms, clear: async () => {} } };
    expect((await bookRefunds(dying, [made])).verdicts).toEqual(['booked']);
    expect(await alarms()).toEqual([`refund_not_booked ${made.refundId}`]);
    await round();
    expect(await alarms()).toEqual([]);
    const contradiction = { ...made, amountKopecks: 101n };
    expect((await bookRefunds(deps, [contradiction])).verdicts).toEqual(['conflict']);
    expect(await alarms()).toEqual([`refund_not_booked ${made.refundId}`]);
    await clearAll();
  });

  test('if its reference was used for a top-up', async ({ payment }) => {
    const { refundId } = refund(payment.paymentId, 100);
    const funding = { partnerId, mode: 'live', microUsdt: 1n } as const;
    await credit(pool, clock, [{ ...funding, reference: `refund:${refundId}` }]);
    await round();
    expect(await alarms()).toEqual([`refund_not_booked ${refundId}`]);
    await clearAll();
  });

  test('for a booked refund that the gateway revokes, or does not list any more', async ({ payment }) => {
    const revoked = refund(payment.paymentId, 100);
    const gone = refund(payment.paymentId, 200);
    await round();
    const before = await available(partnerId);
    listed.splice(listed.indexOf(revoked), 1, { ...revoked, isRevoked: true });
    listed.splice(listed.indexOf(gone), 1);
    clock.advance(61 * minuteMs);
    await round();
    expect((await alarms()).sort()).toEqual(
      [revoked, gone].map(({ refundId }) => `refund_revoked ${refundId}`).sort(),
    );
    expect(await available(partnerId)).toBe(before);
    expect(await findings()).toEqual([]);
    await clearAll();
  });

  test('but not for one that was revoked before it was read', async ({ payment }) => {
    refund(payment.paymentId, 100, { isRevoked: true });
    await round();
    expect(await booked(payment.paymentId)).toEqual([]);
    expect(await alarms()).toEqual([]);
  });
});

test('a refund waits for its payment, even if newer ones are booked', async () => {
  const payment = await world.open(partnerId);
  refund(payment.paymentId, 100);
  await round();
  expect(await alarms()).toEqual([]);
  for (let hour = 0; hour < 3; hour++) {
    clock.advance(50 * minuteMs);
    refund((await pay(partnerId)).paymentId, 100);
    await round();
  }
  await world.finish(payment);
  await round();
  expect(await bookedSum(payment.paymentId)).toMatchObject([100, expect.any(Number)]);
});

test('refunds of before they were known to the service are left to operators', async ({ payment }) => {
  refund(payment.paymentId, 100, { createdAt: new Date(Date.parse('2026-01-19T10:00:00Z')) });
  clock.advance(61 * minuteMs);
  await round();
  expect(await booked(payment.paymentId)).toEqual([]);
});
