import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { listAlarms } from '../../src/alarms/index.ts';
import { isDatabaseUnavailable, type Queryable } from '../../src/db/pool.ts';
import type { Gateway } from '../../src/gateway/index.ts';
import { findPartner } from '../../src/partners/index.ts';
import { type Creation, createPayment } from '../../src/payments/index.ts';
import { newLink } from '../helpers/api.ts';
import type { createFundedPartner } from '../helpers/database.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { failed, full, startLiveWorld } from './live-world.ts';

const world = await startLiveWorld();
const { pool, clock, rowsOf, newCustomer, qrWith, untilRow, untilBank, recoverAfter } = world;

describe('crashes and races', () => {
  const never = new Promise<never>(() => {});

  async function callerOf(partnerId: Awaited<ReturnType<typeof createFundedPartner>>, mode: 'live' | 'test') {
    return { partnerId, mode, limits: (await findPartner(pool, partnerId))!.limits };
  }
  const requestFor = (qrUrl: string, idempotencyKey = randomUUID()) => ({
    qrUrl,
    amountKopecks: undefined,
    externalId: null,
    metadata: new Map(),
    idempotencyKey,
  });

  test.each([
    ['before the gateway was called', () => never, 'failed', 'not_executed'],
    [
      'after the gateway had paid',
      (order: Parameters<Gateway['pay']>[0]) => world.deps.gateway.pay(order).then(() => never),
      'succeeded',
      null,
    ],
  ])('a process that dies %s leaves a row that recovery can finish', async (_case, pay, status, code) => {
    const { partnerId } = await newCustomer();
    const deps = world.deps;
    const qr = await qrWith();
    const dying = { ...deps, gateway: { ...deps.gateway, pay } };
    void createPayment(dying, await callerOf(partnerId, 'live'), requestFor(qr.link));
    await untilRow(qr.qrc_id);
    if (status === 'succeeded') await untilBank(qr.qrc_id, 'paid');
    await recoverAfter(59_999);
    expect(await rowsOf(qr.qrc_id)).toMatchObject([{ status: 'processing' }]);
    await recoverAfter(1);
    expect(await rowsOf(qr.qrc_id)).toMatchObject([{ status, error_code: code }]);
  });

  test.each([
    [15_000, 'succeeded', null],
    [15_001, 'failed', 'gateway_declined'],
    [15_002, 'succeeded', null],
  ])(
    'a process that dies in test mode over %i kopecks: the outcome is that of the contract',
    async (kopecks, status, code) => {
      const { partnerId } = await newCustomer();
      const deps = world.deps;
      const link = newLink(kopecks);
      const dying = { ...deps, writer: { ...deps.writer, finish: () => never } };
      void createPayment(dying, await callerOf(partnerId, 'test'), requestFor(link));
      const qrcId = new URL(link).pathname.slice(1);
      await untilRow(qrcId);
      await recoverAfter(60_000);
      expect(await rowsOf(qrcId)).toMatchObject([{ status, error_code: code }]);
    },
  );

  test('a repeat that hung since it found the payment does not show one that was undone', async () => {
    const { partnerId } = await newCustomer();
    const deps = world.deps;
    const caller = await callerOf(partnerId, 'live');
    const qr = await qrWith();
    const request = requestFor(qr.link);
    let answer = (_answer: Awaited<ReturnType<Gateway['pay']>>) => {};
    const pay: Gateway['pay'] = () => new Promise(resolve => (answer = resolve));
    const first = createPayment({ ...deps, gateway: { ...deps.gateway, pay } }, caller, request);
    await untilRow(qr.qrc_id);

    const found = Promise.withResolvers<void>();
    const resumed = Promise.withResolvers<void>();
    const query: Queryable['query'] = async statement => {
      const result = await deps.db.query<never>(statement);
      if (statement.name === 'find payments by key') {
        found.resolve();
        await resumed.promise;
      }
      return result;
    };
    const repeat = createPayment({ ...deps, db: { query } }, caller, request);
    await found.promise;
    answer({ outcome: 'refused', code: 'gateway_busy' });
    expect(await first).toEqual({ outcome: 'refused', code: 'gateway_busy' });
    clock.advance(90_000);
    resumed.resolve();
    expect(await repeat).toEqual({ outcome: 'refused', code: 'gateway_busy' });
  });

  test('an order is not sent when the process hung since the debit', async () => {
    const { partnerId } = await newCustomer();
    const deps = world.deps;
    const qr = await qrWith();
    const open: typeof deps.writer.open = async payment => {
      const opened = await deps.writer.open(payment);
      clock.advance(10_001);
      return opened;
    };
    const pay = vi.fn<Gateway['pay']>();
    const hung = {
      ...deps,
      answerWithinMs: 0,
      writer: { ...deps.writer, open },
      gateway: { ...deps.gateway, pay },
    };
    const answer = await createPayment(hung, await callerOf(partnerId, 'live'), requestFor(qr.link));
    expect(answer).toMatchObject({ payment: { status: 'processing', statusDetail: 'manual_review' } });
    expect(pay).not.toHaveBeenCalled();
    await recoverAfter(60_000);
    expect(await rowsOf(qr.qrc_id)).toMatchObject([{ status: 'failed', error_code: 'not_executed' }]);
  });

  test('a request that hangs while its payment is undone does not show it', async () => {
    const { partnerId } = await newCustomer();
    const deps = world.deps;
    const qr = await qrWith();
    const undoing = Promise.withResolvers<void>();
    const hanging = {
      ...deps,
      clock: {
        ...clock,
        timer: (_ms: number, run: () => void) => {
          void undoing.promise.then(run);
          return () => {};
        },
      },
      gateway: { ...deps.gateway, pay: async () => ({ outcome: 'refused', code: 'gateway_busy' }) as const },
      writer: {
        ...deps.writer,
        finish: () => {
          undoing.resolve();
          return never;
        },
      },
    };
    const answer = createPayment(hanging, await callerOf(partnerId, 'live'), requestFor(qr.link));
    await expect(answer).rejects.toSatisfy(isDatabaseUnavailable);
  });

  test('a refusal that is written when repeats may have shown the payment undoes nothing', async () => {
    const { partnerId } = await newCustomer();
    const deps = world.deps;
    const qr = await qrWith();
    const resumed = Promise.withResolvers<void>();
    const finish: typeof deps.writer.finish = async payment => {
      if (payment.outcome === 'rejected') await resumed.promise;
      return deps.writer.finish(payment);
    };
    const refused = { outcome: 'refused', code: 'gateway_busy' } as const;
    const stalled = {
      ...deps,
      gateway: { ...deps.gateway, pay: async () => refused },
      writer: { ...deps.writer, finish },
    };
    const answer = createPayment(stalled, await callerOf(partnerId, 'live'), requestFor(qr.link));
    await untilRow(qr.qrc_id);
    clock.advance(60_000);
    resumed.resolve();
    expect(await answer).toMatchObject({ outcome: 'payment', payment: { status: 'processing' } });
    await recoverAfter(60_000);
    expect(await rowsOf(qr.qrc_id)).toMatchObject([{ status: 'failed', error_code: 'not_executed' }]);
  });

  test('a repeat that arrives just as the first request is refused gets the refusal', async () => {
    const { partnerId } = await newCustomer();
    const deps = world.deps;
    const caller = await callerOf(partnerId, 'live');
    const qr = await qrWith({ on: 'pay', kind: 'busy', times: 1 });
    const request = requestFor(qr.link);
    const { sent, release } = world.holdOrders();
    const first = createPayment(deps, caller, request);
    await sent;
    // It looked for its key before the first was stored, and finds the first when that is over.
    const db: Queryable = {
      query: async statement => {
        if (statement.name === 'what refuses payments') return { rows: [{ verdict: null }] } as never;
        if (statement.name === 'find payments') {
          release();
          await first;
        }
        return deps.db.query(statement);
      },
    };
    const repeat = await createPayment({ ...deps, db }, caller, request);
    expect(repeat).toEqual({ outcome: 'refused', code: 'gateway_busy' });
    expect(await first).toEqual({ outcome: 'refused', code: 'gateway_busy' });
  });

  test('a refusal that comes after the payment was voided does not unbind its key', async () => {
    const { partner, balance } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind: 'busy', times: 1 });
    const key = randomUUID();
    const { sent, release } = world.holdOrders();
    const paying = partner.pay({ qr_url: qr.link }, key);
    await sent;
    await recoverAfter(60_000);
    release();
    const answer = await paying;
    expect(answer).toMatchObject({ status: 200, json: failed('not_executed') });
    expect((await partner.pay({ qr_url: qr.link }, key)).text).toBe(answer.text);
    expect(await balance()).toBe(full);
  });

  test('a gateway that contradicts itself changes no terminal status and raises an alarm', async () => {
    const { partnerId } = await newCustomer();
    const deps = world.deps;
    const qr = await qrWith();
    let answer = (_answer: Awaited<ReturnType<Gateway['pay']>>) => {};
    const pay: Gateway['pay'] = () => new Promise(resolve => (answer = resolve));
    const contradictory = { ...deps, gateway: { ...deps.gateway, pay } };
    const paying = createPayment(contradictory, await callerOf(partnerId, 'live'), requestFor(qr.link));
    await untilRow(qr.qrc_id);
    await recoverAfter(60_000);
    answer({ outcome: 'succeeded', orderId: 'ord_late' });
    const { payment } = (await paying) as Extract<Creation, { outcome: 'payment' }>;
    expect([payment.status, payment.errorCode]).toEqual(['failed', 'not_executed']);
    expect(await listAlarms(pool, { cleared: false })).toContainEqual(
      expect.objectContaining({ kind: 'gateway_contradiction', subject: payment.paymentId, times: 1 }),
    );
  });

  test('a rate that goes stale between reading and debiting refuses the payment and debits nothing', async () => {
    const { partnerId, balance } = await newCustomer();
    const deps = world.deps;
    const qr = await qrWith();
    const resolve: Gateway['resolve'] = async (qrUrl, requester) => {
      clock.advance(300_001);
      return deps.gateway.resolve(qrUrl, requester);
    };
    const slow = { ...deps, gateway: { ...deps.gateway, resolve } };
    const creation = await createPayment(slow, await callerOf(partnerId, 'live'), requestFor(qr.link));
    expect(creation).toEqual({ outcome: 'refused', code: 'rate_unavailable' });
    expect([await balance(), await rowsOf(qr.qrc_id)]).toEqual([full, []]);
  });

  test('two concurrent recoveries finish a payment once', async () => {
    const { inHaste, balance } = await newCustomer();
    const qrs = await Promise.all(
      Array.from({ length: 8 }, () => qrWith({ on: 'pay', kind: 'answer_lost', times: 1 })),
    );
    await Promise.all(qrs.map(qr => inHaste.pay({ qr_url: qr.link })));
    clock.advance(2_000);
    const polled = vi.spyOn(world.deps.gateway, 'poll');
    await Promise.all([1, 2, 3, 4].map(() => recoverDuePayments(world.deps)));
    const ids = polled.mock.calls.map(([{ paymentId }]) => paymentId);
    polled.mockRestore();
    expect(ids).toHaveLength(new Set(ids).size);
    const { data } = (await inHaste.get('/v1/payments?status=succeeded')).json;
    expect([data.length, await balance()]).toEqual([8, '987.027024']);
  });

  test('a payment that fails to recover does not block the others', async () => {
    const [one, other] = [await newCustomer(), await newCustomer()];
    const qrs = [
      await qrWith({ on: 'pay', kind: 'answer_lost', times: 1 }),
      await qrWith({ on: 'pay', kind: 'answer_lost', times: 1 }),
    ];
    const { id } = (await one.inHaste.pay({ qr_url: qrs[0]!.link })).json;
    await other.inHaste.pay({ qr_url: qrs[1]!.link });
    clock.advance(2_000);
    const poll: Gateway['poll'] = order =>
      order.paymentId === id ? Promise.reject(new Error('a bug')) : world.deps.gateway.poll(order);
    await recoverDuePayments({ ...world.deps, gateway: { ...world.deps.gateway, poll } }).catch(() => {});
    await expect.poll(() => rowsOf(qrs[1]!.qrc_id)).toMatchObject([{ status: 'succeeded' }]);
    await recoverAfter(30_000);
    expect(await rowsOf(qrs[0]!.qrc_id)).toMatchObject([{ status: 'succeeded' }]);
  });
});
