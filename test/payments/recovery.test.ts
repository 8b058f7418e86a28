import { test as base, describe, expect, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { startHeartbeat } from '../../src/db/processes/heartbeat.ts';
import type { Gateway } from '../../src/gateway/index.ts';
import { createOutcomeWaiters } from '../../src/payments/create/outcome-waiters.ts';
import { createPayment, decidePayment, startRecovery } from '../../src/payments/index.ts';
import { requestFor, startRecoveryWorld } from './recovery-world.ts';

const world = await startRecoveryWorld();
const { pool, clock, simulator, deps, audit, newCustomer, qrWith, accepted, unanswered, recover } = world;
const { statusOf, openRowOf, eventsOf, movesOf, alarmsOf, idOf } = world;
const never = new Promise<never>(() => {});
const hour = 3_600_000;
const test = base.extend('customer', () => newCustomer());

describe('polling', () => {
  test('after two hours one alarm is raised, the slot is free, and polling continues', async () => {
    const customer = await newCustomer();
    const paymentId = await accepted(customer);
    clock.advance(2 * hour - 1);
    await recover();
    expect([await alarmsOf(paymentId), (await openRowOf(paymentId)).support_since]).toEqual([[], null]);
    expect((await statusOf(paymentId)).status_detail).toBe('awaiting_gateway');
    for (let look = 0; look < 3; look++) {
      clock.advance(60_000);
      await recover();
    }
    expect(await alarmsOf(paymentId)).toEqual([{ kind: 'payment_overdue', times: 1, clearedBy: null }]);
    expect(await openRowOf(paymentId)).toMatchObject({
      awaiting_gateway: false,
      support_since: expect.any(Date),
    });
    expect(await statusOf(paymentId)).toMatchObject({ status: 'processing', status_detail: 'manual_review' });

    const { order_id: orderId } = (await simulator.call('GET', `/orders/${paymentId}`)).body;
    clock.advance(60_000);
    await recover({ poll: async () => ({ outcome: 'succeeded', orderId }) });
    expect(await statusOf(paymentId)).toMatchObject({ status: 'succeeded' });
    expect(await alarmsOf(paymentId, true)).toMatchObject([{ kind: 'payment_overdue', clearedBy: 'kopeck' }]);
  });
});

describe('the first answer finishes a payment', () => {
  test('an answer, a poller, another poller and two operators at once: one end, one move, one event', async () => {
    for (let round = 0; round < 4; round++) {
      const customer = await newCustomer();
      const { paymentId, creation, answer } = await unanswered(customer);
      const { partnerId } = customer;
      answer({ outcome: 'succeeded', orderId: 'ord_late' });
      const word = { partnerId, mode: 'live', paymentId } as const;
      await Promise.all([
        creation,
        deps.writer.finish({ ...word, outcome: 'failed', code: 'not_executed' }),
        deps.writer.finish({ ...word, outcome: 'succeeded', orderId: 'ord_late' }),
        decidePayment(audit, paymentId, { outcome: 'succeeded', reason: 'the bank says so' }),
        decidePayment(audit, paymentId, { outcome: 'failed', reason: 'the bank says so' }),
      ]);
      const { status } = await statusOf(paymentId);
      expect([await eventsOf(paymentId), await movesOf(paymentId)]).toEqual([1, 2]);
      expect(await customer.balance()).toBe(status === 'succeeded' ? '998.378378' : '1000.000000');
    }
  });

  test('a later contrary answer changes nothing and raises one alarm', async ({ customer }) => {
    const paymentId = await accepted(customer);
    clock.advance(2_000);
    const { order_id: orderId } = (await simulator.call('GET', `/orders/${paymentId}`)).body;
    const word = { partnerId: customer.partnerId, mode: 'live', paymentId } as const;
    const poll: Gateway['poll'] = async () => {
      await deps.writer.finish({ ...word, outcome: 'failed', code: 'gateway_declined' });
      return { outcome: 'succeeded', orderId };
    };
    await recover({ poll });
    expect(await statusOf(paymentId)).toMatchObject({ status: 'failed', error_code: 'gateway_declined' });
    expect(await alarmsOf(paymentId)).toEqual([{ kind: 'gateway_contradiction', times: 1, clearedBy: null }]);
    expect([await eventsOf(paymentId), await customer.balance()]).toEqual([1, '1000.000000']);
  });

  test('an operator cannot decide while a process has the lease', async () => {
    const { paymentId, creation, answer } = await unanswered(await newCustomer());
    const word = { outcome: 'failed', reason: 'in a hurry' } as const;
    expect(await decidePayment(audit, paymentId, word)).toEqual({ outcome: 'under_way' });
    answer({ outcome: 'succeeded', orderId: 'ord_1' });
    expect(await creation).toMatchObject({ payment: { status: 'succeeded' } });
  });
});

describe('the stored order', () => {
  const contradiction = [{ kind: 'gateway_contradiction', times: 1, clearedBy: null }];

  test.for<[string, Partial<Gateway>]>([
    ['another order was paid', { poll: async () => ({ outcome: 'succeeded', orderId: 'ord_other' }) }],
    [
      'another order was declined',
      { poll: async () => ({ outcome: 'declined', orderId: 'ord_other', code: 'gateway_declined' }) },
    ],
    [
      'there never was an order',
      { poll: async () => ({ outcome: 'order_unknown' }), void: async () => ({ outcome: 'voided' }) },
    ],
  ])('ends nothing when the gateway says that %s', async ([_case, lie], { customer }) => {
    const paymentId = await accepted(customer);
    clock.advance(2_000);
    await recover(lie);
    expect(await statusOf(paymentId)).toMatchObject({ status: 'processing', status_detail: 'manual_review' });
    expect(await alarmsOf(paymentId)).toEqual(contradiction);
    expect(await openRowOf(paymentId)).toMatchObject({ lease_holder: null });
    expect(await customer.balance()).toBe('998.378378');
    await decidePayment(audit, paymentId, { outcome: 'succeeded', reason: 'seen on the statement' });
  });

  test('a refusal after the order was seen releases nothing', async ({ customer }) => {
    const { paymentId, creation, answer } = await unanswered(customer);
    clock.advance(60_000);
    await recover({ poll: async () => ({ outcome: 'accepted', orderId: 'ord_1' }) });
    answer({ outcome: 'refused', code: 'gateway_busy' });
    expect(await creation).toMatchObject({ outcome: 'payment', payment: { status: 'processing' } });
    expect([await alarmsOf(paymentId), await customer.balance()]).toEqual([contradiction, '998.378378']);
    clock.advance(60_000);
    await recover({ poll: async () => ({ outcome: 'succeeded', orderId: 'ord_1' }) });
    expect(await statusOf(paymentId)).toMatchObject({ status: 'succeeded' });
  });

  test('an order over another amount raises an alarm and stays unfinished', async ({ customer }) => {
    const qr = await qrWith({ on: 'pay', kind: 'wrong_amount' });
    const { id } = (await customer.partner.pay({ qr_url: qr.link })).json;
    expect(await statusOf(id)).toMatchObject({ status: 'processing', status_detail: 'manual_review' });
    expect(await alarmsOf(id)).toEqual(contradiction);
    await decidePayment(audit, id, { outcome: 'succeeded', reason: 'seen on the statement' });
    expect(await alarmsOf(id, true)).toMatchObject([{ clearedBy: 'test' }]);
  });
});

test('a process that dies leaves its payments to the others, which poll them before the lease expires', async () => {
  const customer = await newCustomer();
  const heartbeat = await startHeartbeat({ pool, clock: systemClock });
  const dying = { ...deps, heartbeat, gateway: { ...deps.gateway, pay: () => never } };
  const qr = await qrWith();
  void createPayment(dying, customer.caller, requestFor(qr.link));
  const paymentId = await idOf(qr);
  const looked = vi.spyOn(deps.heartbeat, 'findDead');
  const { stop } = startRecovery(deps);
  try {
    // Long enough for two rounds of the search for dead processes.
    await clock.until(() => expect(looked.mock.calls.length).toBeGreaterThan(3));
    expect(await statusOf(paymentId)).toMatchObject({ status: 'processing' });
    await heartbeat.close();
    await clock.until(async () => expect((await statusOf(paymentId)).error_code).toBe('not_executed'));
  } finally {
    await stop();
  }
});

test('a request is answered in time whatever hangs after the debit', async ({ customer }) => {
  let expire = () => {};
  const asked: number[] = [];
  const timer = (ms: number, run: () => void) => {
    asked.push(ms);
    expire = run;
    return () => {};
  };
  const writer = { ...deps.writer, finish: () => never };
  const hanging = { ...deps, clock: { ...clock, timer }, writer };
  const qr = await qrWith();
  const creation = createPayment(hanging, customer.caller, requestFor(qr.link));
  await clock.until(() => expect(asked).toEqual([75_000]));
  expire();
  expect(await creation).toMatchObject({ outcome: 'payment', payment: { status: 'processing' } });
});

test('a repeated request at a process that shuts down is sent to another one', async ({ customer }) => {
  const qr = await qrWith();
  const outcomeWaiters = createOutcomeWaiters(pool, clock, deps.signals);
  const request = requestFor(qr.link);
  const gateway = { ...deps.gateway, pay: () => never };
  const leaving = { ...deps, outcomeWaiters, answerWithinMs: 60_000, gateway };
  void createPayment(leaving, customer.caller, request);
  await idOf(qr);
  const repeat = createPayment(leaving, customer.caller, request);
  outcomeWaiters.stop();
  expect(await repeat).toEqual({ outcome: 'refused', code: 'gateway_unavailable' });
});
