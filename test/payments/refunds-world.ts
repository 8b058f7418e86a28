import { createAlarms, listAlarms } from '../../src/alarms/index.ts';
import type { Id } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import type { Gateway, ListedRefund } from '../../src/gateway/index.ts';
import { readBalances } from '../../src/ledger/index.ts';
import { createPaymentSignals, listRefunds } from '../../src/payments/index.ts';
import { type RefundDeps, refundRound } from '../../src/payments/refunds/read-refunds.ts';
import { createPast } from './archive-world.ts';

/** Payments of early 2026, and a gateway that lists refunds of them. */
export async function createRefundsWorld(pool: Pool) {
  const past = await createPast(pool);
  const { clock } = past;
  await pool.query('UPDATE service SET refunds_from = $1', [new Date(clock.nowMs())]);
  const listed: ListedRefund[] = [];
  let count = 0;

  const gateway = {
    listRefunds: async (since: Date): ReturnType<Gateway['listRefunds']> => ({
      refunds: listed.filter(({ createdAt }) => createdAt >= since),
      nextCursor: null,
    }),
  };
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const depsOn = (own: Pool, change: Partial<RefundDeps> = {}): RefundDeps => ({
    ...{ pool: own, db: own, clock, gateway, log, signals: createPaymentSignals() },
    alarms: createAlarms({ db: own, clock, log }),
    ...change,
  });

  /** The gateway has made a refund. */
  function refund(paymentId: string, kopecks: number, change: Partial<ListedRefund> = {}): ListedRefund {
    clock.advance(1_000);
    const made = {
      refundId: `rfd_${++count}`,
      paymentId,
      amountKopecks: BigInt(kopecks),
      createdAt: new Date(clock.nowMs()),
      isRevoked: false,
      ...change,
    };
    listed.push(made);
    return made;
  }

  const available = async (partnerId: Id<'prt'>) =>
    (await readBalances(pool, partnerId)).live.availableMicroUsdt;
  const alarms = async () =>
    (await listAlarms(pool, { cleared: false })).map(({ kind, subject }) => `${kind} ${subject}`);
  /** Of each refund of the payment: kopecks and micro-USDT. */
  const booked = async (paymentId: Id<'pay'>) =>
    (await listRefunds(pool, paymentId)).map(one => [Number(one.amountKopecks), Number(one.amountMicroUsdt)]);
  const bookedSum = async (paymentId: Id<'pay'>) =>
    (await booked(paymentId)).reduce(([a, b], [c, d]) => [a! + c!, b! + d!], [0, 0]);
  return {
    ...{ ...past, listed, gateway, depsOn, refund, available, alarms, booked, bookedSum },
    round: (change?: Partial<RefundDeps>) => refundRound(depsOn(pool, change)),
  };
}
