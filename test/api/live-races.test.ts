import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { listAlarms } from '../../src/alarms/index.ts';
import { isDatabaseUnavailable } from '../../src/db/postgres/database-errors.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import type { Gateway } from '../../src/gateway/index.ts';
import { findPartner } from '../../src/partners/index.ts';
import { type Creation, createPayment, findPayment } from '../../src/payments/index.ts';
import { createReferenceSealer, openReference } from '../../src/payments/order-reference.ts';
import { keyring } from '../helpers/api.ts';
import type { createFundedPartner } from '../helpers/database.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { requestFor } from '../payments/recovery-world.ts';
import { failed, full, startLiveWorld } from './live-world.ts';

const world = await startLiveWorld();
const { pool, clock, deps, rowsOf, orderOf, newCustomer } = world;
const { qrWith, holdOrders, untilRow, recoverAfter } = world;

describe('crashes and races', () => {
  const never = new Promise<never>(() => {});

  const callerOf = async (partnerId: Awaited<ReturnType<typeof createFundedPartner>>) => ({
    partnerId,
    mode: 'live' as const,
    limits: (await findPartner(pool, partnerId))!.limits,
  });
  async function prepared(...faults: object[]) {
    const { partnerId } = await newCustomer();
    const qr = await qrWith(...faults);
    return { qr, caller: await callerOf(partnerId), request: requestFor(qr.link) };
  }

  /** A gateway that has got the order, and whose answer the test gives. */
  function answeredByTest() {
    const sent = Promise.withResolvers<void>();
    const { promise, resolve: answer } = Promise.withResolvers<Awaited<ReturnType<Gateway['pay']>>>();
    const pay: Gateway['pay'] = () => {
      sent.resolve();
      return promise;
    };
    return { gateway: { ...deps.gateway, pay }, sent: sent.promise, answer };
  }

  test('a repeat that hung since it found the payment does not show one that was undone', async () => {
    const { caller, request } = await prepared();
    const { gateway, sent, answer } = answeredByTest();
    const first = createPayment({ ...deps, gateway }, caller, request);
    await sent;

    const found = Promise.withResolvers<void>();
    const resumed = Promise.withResolvers<void>();
    const query: Queryable['query'] = async statement => {
      const result = await deps.db.query<never>(statement);
      if (statement.name === 'find payments') {
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
    const { caller, request, qr } = await prepared();
    const open: typeof deps.writer.open = async payment => {
      const opened = await deps.writer.open(payment);
      clock.advance(10_001);
      return opened;
    };
    const pay = vi.fn<Gateway['pay']>();
    const [writer, gateway] = [
      { ...deps.writer, open },
      { ...deps.gateway, pay },
    ];
    const answer = await createPayment({ ...deps, answerWithinMs: 0, writer, gateway }, caller, request);
    expect(answer).toMatchObject({ payment: { status: 'processing', statusDetail: 'manual_review' } });
    expect(pay).not.toHaveBeenCalled();
    await recoverAfter(60_000);
    expect(await rowsOf(qr.qrc_id)).toMatchObject([{ status: 'failed', error_code: 'not_executed' }]);
  });

  test('a request that hangs while its payment is undone does not show it', async () => {
    const { caller, request } = await prepared();
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
    const answer = createPayment(hanging, caller, request);
    await expect(answer).rejects.toSatisfy(isDatabaseUnavailable);
  });

  test('a refusal that is written when repeats may have shown the payment undoes nothing', async () => {
    const { caller, request, qr } = await prepared();
    const [undoing, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const finish: typeof deps.writer.finish = async payment => {
      if (payment.outcome === 'rejected') {
        undoing.resolve();
        await resumed.promise;
      }
      return deps.writer.finish(payment);
    };
    const pay = async () => ({ outcome: 'refused', code: 'gateway_busy' }) as const;
    const stalled = { ...deps, gateway: { ...deps.gateway, pay }, writer: { ...deps.writer, finish } };
    const answer = createPayment(stalled, caller, request);
    await undoing.promise;
    clock.advance(60_000);
    resumed.resolve();
    expect(await answer).toMatchObject({ outcome: 'payment', payment: { status: 'processing' } });
    await recoverAfter(60_000);
    expect(await rowsOf(qr.qrc_id)).toMatchObject([{ status: 'failed', error_code: 'not_executed' }]);
  });

  test.each([
    ['before the first was stored', true],
    ['while it was under way', false],
  ])(
    'a repeat that looked for its key %s, which is refused then, gets the refusal',
    async (_when, isEarly) => {
      const { caller, request } = await prepared({ on: 'pay', kind: 'busy', times: 1 });
      const { sent, release } = holdOrders();
      const first = createPayment(deps, caller, request);
      await sent;
      const db: Queryable = {
        query: async statement => {
          const isLookUp = statement.name === 'what refuses payments';
          if (isLookUp && isEarly) return { rows: [{ verdict: null, known_id: null }] } as never;
          const found = isLookUp ? await deps.db.query<never>(statement) : undefined;
          if (isLookUp || statement.name === 'find payments') {
            release();
            await first;
          }
          return found ?? deps.db.query(statement);
        },
      };
      const repeat = await createPayment({ ...deps, db }, caller, request);
      expect(repeat).toEqual({ outcome: 'refused', code: 'gateway_busy' });
      expect(await first).toEqual({ outcome: 'refused', code: 'gateway_busy' });
    },
  );

  test('a refusal that comes after the payment was voided does not unbind its key', async () => {
    const { partner, balance } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind: 'busy', times: 1 });
    const key = randomUUID();
    const { sent, release } = holdOrders();
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
    const { caller, request } = await prepared();
    const { gateway, sent, answer } = answeredByTest();
    const paying = createPayment({ ...deps, gateway }, caller, request);
    await sent;
    await recoverAfter(60_000);
    answer({ outcome: 'succeeded', orderId: 'ord_late' });
    const { payment } = (await paying) as Extract<Creation, { outcome: 'payment' }>;
    expect([payment.status, payment.errorCode]).toEqual(['failed', 'not_executed']);
    expect(await listAlarms(pool, { cleared: false })).toContainEqual(
      expect.objectContaining({ kind: 'gateway_contradiction', subject: payment.paymentId, times: 1 }),
    );
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
      order.paymentId === id ? Promise.reject(new Error('a bug')) : deps.gateway.poll(order);
    await recoverDuePayments({ ...deps, gateway: { ...deps.gateway, poll } }).catch(() => {});
    await untilRow(qrs[1]!.qrc_id, row => row.status === 'succeeded');
    await recoverAfter(30_000);
    expect(await rowsOf(qrs[0]!.qrc_id)).toMatchObject([{ status: 'succeeded' }]);
  });
});

const key = createReferenceSealer(keyring);

test('a live order carries its payment, sealed, to the bank side and back', async () => {
  const { partner, partnerId } = await newCustomer();
  const qr = await qrWith();
  const request = { qr_url: qr.link, external_id: 'заказ 7', metadata: { table: 12, note: '🍵' } };
  const { json } = await partner.pay(request, 'a key of the partner');
  const { reference } = await orderOf(json.id);
  expect(reference).toMatch(/^[\w-]{1,1024}$/);
  const stored = (await findPayment(pool, { partnerId, mode: 'live' }, json.id))!;
  const { status, statusDetail, gatewayOrderId, errorCode, settledAt, ...opened } = stored;
  const { leftOut, rateId, ...referenced } = openReference(reference, key, json.id)!;
  expect(referenced).toEqual({ ...opened, fingerprint: '' });
  expect(leftOut).toEqual([]);
  const { rows } = await pool.query('SELECT rate_id FROM payments WHERE qrc_id = $1', [qr.qrc_id]);
  expect(rateId).toBe(rows[0].rate_id);

  const { orders } = await deps.gateway.listOrders(new Date(0));
  expect(orders).toContainEqual(expect.objectContaining({ paymentId: json.id, reference }));
});

test('the longest payment that the API accepts is paid, and its order carries it', async () => {
  const { partner } = await newCustomer();
  const qr = await qrWith();
  const external_id = '\u{10fffd}'.repeat(128);
  const idempotencyKey = '~'.repeat(255);
  const metadata = { note: 'x'.repeat(16_000) };
  const { json } = await partner.pay({ qr_url: qr.link, external_id, metadata }, idempotencyKey);
  expect(json.status).toBe('succeeded');
  expect(openReference((await orderOf(json.id)).reference, key, json.id)).toMatchObject({
    idempotencyKey,
    externalId: external_id,
    metadata: '{}',
    leftOut: expect.arrayContaining(['metadata']),
  });
});
