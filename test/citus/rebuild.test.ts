import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { uuidFromId } from '../../src/base/ids.ts';
import { joinIncarnation } from '../../src/db/incarnation/join.ts';
import { createKeyring } from '../../src/db/keyring.ts';
import type { ListedOrder } from '../../src/gateway/index.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createReferenceSealer } from '../../src/payments/index.ts';
import type { HistoryDeps } from '../../src/payments/lost-history/deps.ts';
import { recoverRound } from '../../src/payments/lost-history/recover-history.ts';
import { findSupersession } from '../../src/payments/lost-history/superseded.ts';
import { sealReference } from '../../src/payments/order-reference.ts';
import { createCodeGuard } from '../../src/payments/shards/code-guard.ts';
import { secretKey } from '../helpers/partners.ts';
import { isCitusAvailable } from './available.ts';
import { startCitusWorld } from './world.ts';

describe.runIf(isCitusAvailable)('lost history on Citus', async () => {
  if (!isCitusAvailable) return;
  const { pool, all, through, opening, newPartner } = await startCitusWorld(2);
  const join = (isRestored: boolean) =>
    joinIncarnation({ pool, clock: systemClock }, { place: undefined, isRestored });
  const references = createReferenceSealer(createKeyring([secretKey]));

  test('lost payments of every shard are rebuilt in it, and those that cannot be are set aside', async () => {
    await join(false);
    const partners = [await newPartner(0), await newPartner(1), await newPartner(2)];
    await join(true);
    const createdAt = new Date();
    const lost = partners.map(partnerId => ({ ...opening(partnerId), createdAt }));
    const orders = lost.map(
      (payment): ListedOrder => ({
        paymentId: payment.paymentId,
        orderId: `order of ${payment.paymentId}`,
        qrcId: payment.qrcId,
        state: 'succeeded',
        amountKopecks: payment.amountKopecks,
        createdAt,
        reference: sealReference(payment, references),
      }),
    );
    orders.push({ ...orders[0]!, paymentId: 'foreign', reference: null });
    let clockMs = 0;
    const deps = {
      db: all,
      clock: { ...systemClock, nowMs: () => systemClock.nowMs() + clockMs },
      codeGuard: createCodeGuard(through, systemClock),
      gateway: { listOrders: async () => ({ orders, nextCursor: null }) },
      references,
      alarms: { raise: async () => {}, clear: async () => {} },
      heartbeat: { instance: 1 },
      log: { info: () => {}, warn: () => {}, error: () => {} },
    } as unknown as HistoryDeps;
    await recoverRound(deps);
    const { rows } = await all.query<{ payment_id: string }>('SELECT payment_id FROM recovered_payments');
    expect(rows.map(row => row.payment_id).sort()).toEqual(
      lost.map(({ paymentId }) => uuidFromId(paymentId)).sort(),
    );
    const { rows: stray } = await pool.query('SELECT payment, why FROM stray_orders');
    expect(stray).toEqual([{ payment: 'foreign', why: 'unreadable' }]);
    for (const [shard, { partnerId, paymentId }] of lost.entries()) {
      const stops = { isRecovering: true, hasStrayOrders: true } as Parameters<typeof findSupersession>[2];
      expect(await findSupersession(through[shard]!, { partnerId, mode: 'live', paymentId }, stops)).toBe(
        'no',
      );
    }
    expect((await verifyLedger(all)).findings).toEqual([]);

    clockMs = 21_000;
    await recoverRound(deps);
    clockMs = 60_000;
    await recoverRound(deps);
    const { rows: current } = await pool.query('SELECT number, opened_at IS NULL AS waits FROM incarnations');
    expect(current).toEqual([
      { number: 1, waits: false },
      { number: 2, waits: false },
    ]);
  });
});
