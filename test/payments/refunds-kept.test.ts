import { beforeAll, describe, expect, test } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { checkInvariants } from '../../src/ledger/verify.ts';
import { createDatabase } from '../helpers/database.ts';
import { createRefundsWorld } from './refunds-world.ts';

const { pool } = await createDatabase();
const world = await createRefundsWorld(pool);
const { pay, refund, round, bookedSum, findings, clock } = world;

let partnerId: Id<'prt'>;
beforeAll(async () => {
  partnerId = await world.newPartner();
  const payment = await pay(partnerId, { amountKopecks: 10_000n });
  refund(payment.paymentId, 4_000);
  refund(payment.paymentId, 3_000);
  await round();
});

describe('verification finds', () => {
  const breaks = async (sql: string, invariant: RegExp) => {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('SET LOCAL session_replication_role = replica');
      await client.query('ALTER TABLE refunds DISABLE TRIGGER ALL');
      await client.query(sql);
      const found = (await checkInvariants(client, { now: new Date(clock.nowMs()) })).findings;
      expect(found.map(finding => finding.invariant).join()).toMatch(invariant);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  };
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
  ])('%s', (_case, sql, invariant) => breaks(sql, invariant));
});

test('rows are never changed or removed', async () => {
  await expect(pool.query('UPDATE refunds SET micro_usdt = 0')).rejects.toThrow('only ever added');
  await expect(pool.query('DELETE FROM refunds')).rejects.toThrow('only ever added');
  await expect(pool.query('TRUNCATE refunds')).rejects.toThrow('only ever added');
  const id = uuidFromId(partnerId);
  await expect(
    pool.query(`INSERT INTO refunds SELECT $1, 'test', $1, 'x', 1, 0, 1, 0, NULL, 0, now(), now()`, [id]),
  ).rejects.toThrow('refunds_are_live');
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
