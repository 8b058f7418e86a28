import { expect, test } from 'vitest';
import { createAlarms, listAlarms } from '../../src/alarms/index.ts';
import { sessionOfAll } from '../../src/db/shards/sessions.ts';
import { createPaymentSignals, listRefunds } from '../../src/payments/index.ts';
import { refundRound } from '../../src/payments/refunds/read-refunds.ts';
import { holdLocks } from '../helpers/locks.ts';
import { startShardsWorld } from './shards-world.ts';

test('a shard out of reach holds up no refunds of the others, and its own follow', async () => {
  const { pool, url, shards, clock, openSessions, newPartner, newProcess, opening } =
    await startShardsWorld(2);
  const all = openSessions({ ...sessionOfAll(2), lock_timeout: '100' });
  await pool.query('UPDATE service SET refunds_from = $1', [new Date(clock.nowMs())]);
  const { writers } = newProcess();
  const pay = async (shard: number) => {
    const payment = opening(await newPartner(shard));
    await writers[shard]!.open(payment);
    await writers[shard]!.finish({ ...payment, outcome: 'succeeded', orderId: payment.paymentId });
    return payment.paymentId;
  };
  const payments = [await pay(0), await pay(1)];
  const refunds = payments.map((paymentId, nth) => ({
    refundId: `rfd_${nth}`,
    paymentId,
    amountKopecks: 100n,
    createdAt: new Date(clock.nowMs() + nth),
    isRevoked: false,
  }));
  clock.advance(60_000);
  const asked: Date[] = [];
  const gateway = {
    listRefunds: async (since: Date) => {
      asked.push(since);
      return { refunds: refunds.filter(({ createdAt }) => createdAt >= since), nextCursor: null };
    },
  };
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const alarms = createAlarms({ db: all, clock, log });
  const deps = { pool: all, db: all, clock, gateway, log, alarms, signals: createPaymentSignals() };
  const booked = async () =>
    Promise.all(payments.map(async (id, shard) => (await listRefunds(shards[shard]!, id)).length));

  const { unlock } = await holdLocks(url, 'LOCK TABLE shard_1.refunds, shard_1.payments', []);
  await expect(refundRound(deps)).rejects.toThrow('lock timeout');
  await unlock();
  expect(await booked()).toEqual([1, 0]);
  expect(await listAlarms(pool, { cleared: false })).toEqual([]);

  expect(await refundRound(deps)).toBe('read');
  expect(await booked()).toEqual([1, 1]);
  expect(asked).toHaveLength(2);
});
