import { expect, test } from 'vitest';
import { alarmGauges } from '../../../src/alarms/index.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { idFromUuid, newId, uuidFromId } from '../../../src/base/ids.ts';
import { setBalanceMark } from '../../../src/bot/index.ts';
import { monitor } from '../../../src/bot/notices/monitor.ts';
import { ledgerGauges, verifyLedger } from '../../../src/ledger/index.ts';
import { decidePayment, paymentGauges } from '../../../src/payments/index.ts';
import { reconcile } from '../../../src/payments/reconciliation/reconcile.ts';
import { createPrunes } from '../../../src/runtime/prunes.ts';
import { webhookGauges } from '../../../src/webhooks/metrics.ts';
import { auditContextOf } from '../../helpers/database.ts';
import { readGauges } from '../../helpers/gauges.ts';
import { inShardOf } from '../../helpers/shards.ts';
import { makeQr } from '../../helpers/simulator.ts';
import { startSpansWorld } from './world.ts';

const { pool, api, simulator, customers } = await startSpansWorld();
const minuteMs = 60_000;
const laterBy = (ms: number) => ({ ...systemClock, nowMs: () => systemClock.nowMs() + ms });

test('reconciliation compares the orders with the payments of all shards', async () => {
  const unknownHere = newId('pay', systemClock);
  await (await makeQr(simulator)).pay(unknownHere);
  const nowMs = systemClock.nowMs();
  const period = { from: new Date(nowMs - 10 * minuteMs), until: new Date(nowMs + minuteMs) };
  const deps = { ...api.deps, pool, clock: { ...systemClock, sleep: async () => {} } };
  const { differences, orders, payments } = await reconcile(deps, 'test', period);
  expect(differences.map(({ kind, paymentId }) => [kind, paymentId]).toSorted()).toEqual(
    [
      ['paid_there_not_here', unknownHere],
      ...customers.map(({ open }) => ['still_open', open.id]),
    ].toSorted(),
  );
  expect([orders, payments]).toEqual([BigInt(3 * customers.length + 1), BigInt(3 * customers.length)]);
});

test('metrics count all shards', async () => {
  const read = () => readGauges(pool, [...paymentGauges, ...ledgerGauges, ...webhookGauges, ...alarmGauges]);
  // A receiver has an event before that is on record.
  await expect.poll(read).toContain('kopeck_deliveries_pending{state="waiting"} 0');
  const lines = await read();
  expect(lines).toContain(`kopeck_payments_unfinished{state="awaiting_gateway"} ${customers.length}`);
  expect(lines).toContain(`kopeck_webhooks{state="active"} ${customers.length}`);
});

test('the bot notices low balances and long payments in all shards, each once', async () => {
  for (const { partnerId } of customers)
    await setBalanceMark(auditContextOf(pool), partnerId, 2_000_000_000n);
  const rounds = async () => {
    const deps = { pool, clock: laterBy(11 * minuteMs), rateMaxAgeSec: 3_600, telegramStaffChat: 1 };
    await monitor(deps);
    await monitor(deps);
  };
  const partnersWith = async (kind: string) => {
    const { rows } = await pool.query<{ partner_id: string }>(
      'SELECT partner_id FROM partner_notices WHERE kind = $1',
      [kind],
    );
    return rows.map(({ partner_id }) => idFromUuid('prt', partner_id)).toSorted();
  };
  const everyone = customers.map(({ partnerId }) => partnerId).toSorted();
  await rounds();
  expect(await partnersWith('balance_low')).toEqual(everyone);
  expect(await partnersWith('payment_in_review')).toEqual(everyone);
  for (const { open } of customers)
    await decidePayment(auditContextOf(pool), open.id as `pay_${string}`, {
      outcome: 'failed',
      reason: 'test',
    });
  for (const { partnerId } of customers) await setBalanceMark(auditContextOf(pool), partnerId, 1n);
  await rounds();
  expect(await partnersWith('payment_review_ended')).toEqual(everyone);
  const { rows } = await pool.query('SELECT FROM balance_marks WHERE low_since IS NOT NULL');
  expect(rows).toEqual([]);
});

test('every prune works in every shard', async () => {
  const pools = api.deps.shards.all().map(shard => shard.pool);
  for (const prune of createPrunes({ testDataDays: 30, requestLogDays: 30 }, pools))
    await expect(prune(pool, systemClock)).resolves.toBeTypeOf('number');
});

test('the ledger of all shards is verified, and a difference in any of them is found', async () => {
  expect((await verifyLedger(pool)).findings).toEqual([]);
  for (const { partnerId } of customers) {
    const move = (microUsdt: bigint) =>
      inShardOf(pool, partnerId, tx =>
        tx.query({
          text: `UPDATE accounts SET available = available + $2, settled = settled - $2 WHERE partner_id = $1 AND mode = 'live'`,
          values: [uuidFromId(partnerId), microUsdt],
        }),
      );
    await move(1n);
    const { findings } = await verifyLedger(pool);
    expect(new Set(findings.map(finding => finding.partnerId))).toEqual(new Set([partnerId]));
    await move(-1n);
  }
});
