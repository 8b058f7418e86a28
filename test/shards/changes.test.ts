import { describe, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { readBalances, topUp, verifyLedger } from '../../src/ledger/index.ts';
import { createPartner } from '../../src/partners/index.ts';
import { decidePayment, pollNow } from '../../src/payments/index.ts';
import { addToTestClock } from '../../src/payments/recovery/test-clock.ts';
import { findWebhook, setWebhook } from '../../src/webhooks/admin/webhook.ts';
import { createVault } from '../../src/webhooks/index.ts';
import { keyring } from '../helpers/partners.ts';
import { startShardsWorld } from './shards-world.ts';

const { pool, all, shards, clock, newPartner, newProcess, opening } = await startShardsWorld(4);
const audit = { pool: all, clock, actor: 'test' };
const minutes = 60_000;

const rowsOf = async (table: string, partnerId: Parameters<typeof uuidFromId>[0]) =>
  Promise.all(
    shards.map(async db => {
      const { rows } = await db.query(`SELECT count(*)::int AS n FROM ${table} WHERE partner_id = $1`, [
        uuidFromId(partnerId),
      ]);
      return rows[0].n as number;
    }),
  );

describe('changes by people, in sessions of all shards', () => {
  test('new partners go to the shards in turn, each with its accounts', async () => {
    const found: number[] = [];
    for (const _ of shards) {
      const { partnerId } = await createPartner(audit, 'Shop');
      const { rows } = await pool.query('SELECT shard FROM partners WHERE id = $1', [uuidFromId(partnerId)]);
      found.push(rows[0].shard);
      const accounts = await rowsOf('accounts', partnerId);
      expect(accounts).toEqual(shards.map((_, shard) => (shard === rows[0].shard ? 2 : 0)));
    }
    expect(found.sort()).toEqual([0, 1, 2, 3]);
  });

  test('credits, webhooks and decisions are written to the shard of the partner, with their audit record', async () => {
    const partnerId = await newPartner(2);
    const credited = { partnerId, mode: 'live', reference: 'one', microUsdt: 5n } as const;
    expect(await topUp(audit, credited)).toMatchObject({ outcome: 'credited' });
    expect(await topUp(audit, credited)).toMatchObject({ outcome: 'already_credited' });
    expect((await readBalances(all, partnerId)).live.availableMicroUsdt).toBe(1_000_000_005n);
    await setWebhook(audit, createVault(keyring), partnerId, 'https://shop.example/hook');
    expect(await rowsOf('webhooks', partnerId)).toEqual([0, 0, 1, 0]);
    expect(await findWebhook(all, partnerId)).toMatchObject({ url: 'https://shop.example/hook' });

    const payment = { ...opening(partnerId), leaseHolder: null };
    const { writers } = newProcess();
    expect(await writers[2]!.open(payment)).toMatchObject({ verdict: 'opened' });
    expect(await pollNow(audit, payment.paymentId)).toEqual({ outcome: 'asked' });
    const decision = { outcome: 'failed', reason: 'the bank has no such order' } as const;
    expect(await decidePayment(audit, payment.paymentId, decision)).toEqual({ outcome: 'resolved' });
    expect(await rowsOf('events', partnerId)).toEqual([0, 0, 1, 0]);
    const { rows } = await pool.query(`SELECT action FROM audit WHERE subject IN ($1, $2) ORDER BY id`, [
      partnerId,
      payment.paymentId,
    ]);
    expect(rows.map(({ action }) => action)).toEqual([
      'balance.credit',
      'webhook.set',
      'payment.ask',
      'payment.resolve',
    ]);
    expect((await verifyLedger(all)).findings).toEqual([]);
  });

  test('a change that enters no shard fails', async () => {
    const partnerId = await newPartner(1);
    await expect(addToTestClock(all, partnerId, 1)).rejects.toThrow(/cannot insert into view/);
  });
});

describe('a lost payment', () => {
  test('is rebuilt in one transaction with its reservation, though it is old, and the sweeper leaves it', async () => {
    const [one, other] = [await newPartner(1), await newPartner(3)];
    const { guard, writers } = newProcess();
    const lost = opening(one);
    const { qrcId, paymentId } = lost;
    clock.advance(10 * minutes);
    await guard.whileReserved(lost, async tx => {
      // The reservation is not seen before the payment is: the sweeper would free it.
      await newProcess().guard.sweep();
      await tx.query({
        text: `INSERT INTO open_payments (scope, qrc_id, partner_id, mode, payment_id, awaiting_gateway, next_at)
               VALUES ('00000000-0000-0000-0000-000000000000', $1, $2, 'live', $3, true, now())`,
        values: [qrcId, uuidFromId(one), uuidFromId(paymentId)],
      });
      return { result: 'recovered', isPayment: true };
    });
    const { rows } = await all.query('SELECT payment_ids FROM code_reservations WHERE qrc_id = $1', [qrcId]);
    expect(rows).toEqual([{ payment_ids: [uuidFromId(paymentId)] }]);
    const rateStaleAt = new Date(clock.nowMs() + minutes);
    expect(await writers[3]!.open(opening(other, { qrcId, rateStaleAt }))).toMatchObject({
      verdict: 'duplicate_qr_in_flight',
    });
    const work = async () => ({ result: 'recovered', isPayment: true });
    expect(await guard.whileReserved(opening(other, { qrcId }), work)).toBeUndefined();
    await shards[1]!.query('DELETE FROM open_payments WHERE qrc_id = $1', [qrcId]);
  });

  test('that cannot be rebuilt keeps no code', async () => {
    const partnerId = await newPartner(2);
    const { guard } = newProcess();
    const lost = opening(partnerId);
    const work = async () => ({ result: 'insufficient_balance', isPayment: false });
    expect(await guard.whileReserved(lost, work)).toBe('insufficient_balance');
    const { rows } = await all.query('SELECT FROM code_reservations WHERE qrc_id = $1', [lost.qrcId]);
    expect(rows).toEqual([]);
  });
});
