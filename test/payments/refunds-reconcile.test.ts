import { test as base, beforeAll, beforeEach, expect } from 'vitest';
import { systemClock as clock } from '../../src/base/clock.ts';
import type { Id } from '../../src/base/ids.ts';
import { OperatorError } from '../../src/base/operator-error.ts';
import type { Gateway } from '../../src/gateway/index.ts';
import { createPaymentSignals, reconcileDay } from '../../src/payments/index.ts';
import { reconcile } from '../../src/payments/reconciliation/reconcile.ts';
import { bookRefunds } from '../../src/payments/refunds/book.ts';
import { createPartnerWithKeys, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';

const { pool } = await createDatabase();
const simulator = await openSimulator();
const api = await startApi({ pool, gatewayUrl: simulator.address });
/** Half an hour later, when a refund is not young any more. */
const later = { ...clock, nowMs: () => clock.nowMs() + 1_800_000, sleep: async () => {} };
const deps = { ...api.deps, clock: later, signals: createPaymentSignals() };
const { liveKey } = await createPartnerWithKeys(pool);
const partner = partnerAt(api.address, liveKey);

beforeAll(() => pool.query(`UPDATE service SET refunds_from = now() - interval '1 minute'`));
beforeEach(() => setRate(pool));

const test = base.extend('id', async (): Promise<Id<'pay'>> => {
  const qr = await makeQr(simulator);
  return (await partner.pay({ qr_url: qr.link })).json.id;
});
const refund = (id: string, body: object) => simulator.call('POST', `/sim/orders/${id}/refunds`, body);
const listed = async () => (await deps.gateway.listRefunds(new Date(clock.nowMs() - 60_000)))!.refunds;
const period = () => ({ from: new Date(clock.nowMs() - 60_000), until: new Date(clock.nowMs() + 60_000) });
const run = async (gateway: Gateway = deps.gateway) =>
  (await reconcile({ ...deps, gateway }, 'test', period())).differences;

test('refunds that are not booked, or are booked and revoked, are discrepancies', async ({ id }) => {
  await refund(id, { amount_kopecks: 100 });
  expect(await run()).toMatchObject([
    { kind: 'refunds_differ', paymentId: id, amountKopecks: 0n, orderKopecks: 100n },
  ]);
  await bookRefunds(deps, await listed());
  expect(await run()).toEqual([]);
  const { refundId } = (await listed())[0]!;
  await simulator.call('POST', `/sim/refunds/${refundId}/revoke`);
  expect(await run()).toMatchObject([
    { kind: 'refunds_differ', paymentId: id, status: 'succeeded', amountKopecks: 100n, orderKopecks: 0n },
  ]);
  await pool.query(`UPDATE service SET refunds_from = now()`);
});

test('one that is booked while both sides are read is none', async ({ id }) => {
  await refund(id, { amount_kopecks: 100 });
  await bookRefunds(deps, (await listed()).slice(-1));
  let calls = 0;
  const racing: Gateway = {
    ...deps.gateway,
    listRefunds: async (...args) => {
      const page = await deps.gateway.listRefunds(...args);
      calls += 1;
      if (calls === 1) {
        await refund(id, { amount_kopecks: 200 });
        await bookRefunds(deps, (await listed()).slice(-1));
      }
      return page;
    },
  };
  expect(await run(racing)).toEqual([]);
  expect(calls).toBe(2);
});

test('a gateway without the list, and refunds of the last minutes, are none', async ({ id }) => {
  await refund(id, { amount_kopecks: 100 });
  expect(await run({ ...deps.gateway, listRefunds: async () => undefined })).toEqual([]);
  const young = { ...deps, clock: { ...clock, sleep: async () => {} } };
  expect((await reconcile(young, 'test', period())).differences).toEqual([]);
});

test('a broken list of refunds does not hide that orders differ, and no alarm ends', async ({ id }) => {
  const missing: Gateway['listOrders'] = async (...args) => {
    const page = await deps.gateway.listOrders(...args);
    return { ...page, orders: page.orders.filter(({ paymentId }) => paymentId !== id) };
  };
  const broken = { ...deps.gateway, listOrders: missing };
  const failing = async () => {
    throw new OperatorError('The payment gateway returned no list of refunds.');
  };
  const found = await reconcile({ ...deps, gateway: { ...broken, listRefunds: failing } }, 'test', period());
  expect(found).toMatchObject({ isComplete: false, refundFailure: expect.any(OperatorError) });
  expect(found.differences).toMatchObject([{ kind: 'here_not_there', paymentId: id }]);

  await pool.query('UPDATE service SET refunds_read_to = now()');
  const gone = { ...deps.gateway, listRefunds: async () => undefined };
  expect(await reconcile({ ...deps, gateway: gone }, 'test', period())).toMatchObject({ isComplete: false });
  const day = await reconcileDay(auditContextOf(pool), gone, new Date(clock.nowMs() - 3_600_000));
  expect(day.refundFailure?.message).toContain('had a list of refunds');
});
