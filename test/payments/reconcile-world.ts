import { beforeAll, beforeEach, expect, vi } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import { type Id, newId } from '../../src/base/ids.ts';
import type { Gateway, ListedOrder } from '../../src/gateway/index.ts';
import { decidePayment } from '../../src/payments/index.ts';
import { reconcile } from '../../src/payments/reconciliation/reconcile.ts';
import { createPartnerWithKeys, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';

/** Payments and orders with a difference of each kind, and two that agree. */
export async function startReconcileWorld() {
  const { pool, url } = await createDatabase();
  const simulator = await openSimulator();
  const api = await startApi({ pool, gatewayUrl: simulator.address, answerWithinMs: 0 });
  // The tests finish payments themselves, so no request waits for one.
  const deps = { ...api.deps, clock: { ...clock, sleep: async () => {} } };
  const customer = await createPartnerWithKeys(pool);
  const partner = partnerAt(api.address, customer.liveKey);
  beforeEach(() => setRate(pool));

  async function pay(...faults: object[]): Promise<Id<'pay'>> {
    const qr = await makeQr(simulator);
    for (const fault of faults) await qr.fault(fault);
    return (await partner.pay({ qr_url: qr.link })).json.id;
  }
  const resolve = (id: Id<'pay'>, outcome: 'succeeded' | 'failed') =>
    decidePayment(auditContextOf(pool), id, { outcome, reason: 'test' });

  const made: Record<string, Id<'pay'>> = {};
  beforeAll(async () => {
    await setRate(pool);
    await pay();
    await pay({ on: 'pay', kind: 'decline' });
    made.unknownHere = newId('pay', clock);
    await (await makeQr(simulator)).pay(made.unknownHere);
    made.failedHere = await pay({ on: 'pay', kind: 'finish_later', ms: 100, outcome: 'succeeded' });
    await resolve(made.failedHere, 'failed');
    const order = () => simulator.call('GET', `/orders/${made.failedHere}`);
    await vi.waitFor(async () => expect((await order()).body.state).toBe('succeeded'), 60_000);
    made.neverThere = await pay({ on: 'pay', kind: 'drop_before' });
    await resolve(made.neverThere, 'succeeded');
    made.wrongAmount = await pay({ on: 'pay', kind: 'wrong_amount' });
    made.open = await pay({ on: 'pay', kind: 'finish_later', ms: 86_400_000, outcome: 'succeeded' });
  });
  const minutesAgo = (minutes: number) => new Date(clock.nowMs() - minutes * 60_000);
  const around = () => ({ from: minutesAgo(10), until: minutesAgo(-1) });
  /** Compares the last ten minutes with what a gateway lists. */
  const compareWith = (listOrders: Gateway['listOrders'], own = deps.clock) =>
    reconcile({ ...deps, clock: own, gateway: { ...deps.gateway, listOrders } }, 'test', around());
  /** The same processes, so much later. */
  const later = (ms: number) => ({ ...deps, clock: { ...deps.clock, nowMs: () => clock.nowMs() + ms } });
  return { pool, url, simulator, deps, customer, pay, made, minutesAgo, around, compareWith, later };
}

export const listed = (order: Partial<ListedOrder> = {}): ListedOrder => ({
  paymentId: 'somebody else',
  orderId: 'ord_x',
  state: 'succeeded',
  amountKopecks: 100n,
  qrcId: null,
  createdAt: new Date(clock.nowMs()),
  reference: null,
  operationNumber: null,
  ...order,
});
