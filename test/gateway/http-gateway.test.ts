import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { createHttpGateway } from '../../src/gateway/index.ts';
import { newPaymentId } from '../helpers/database.ts';
import { startLocalServer } from '../helpers/local-server.ts';
import { words } from '../helpers/words.ts';
import { callNames, calls, gatewayOpener, order, requester, token } from './orders.ts';

const bank = await startLocalServer();
const gatewayAt = gatewayOpener();
const gateway = gatewayAt(`${bank.url}/base`);
const hasty = gatewayAt(bank.url, 150);
const { paymentId } = order;

/** The request, once the bank side has read all of it. */
function listenOnce(answer: object): Promise<{ line: string; authorization?: string; body: unknown }> {
  return new Promise(resolve => {
    bank.answer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      response.end(JSON.stringify(answer));
      const { authorization } = request.headers;
      const line = `${request.method} ${request.url}`;
      const body = text === '' ? undefined : JSON.parse(text);
      resolve({ line, ...(authorization ? { authorization } : {}), body });
    });
  });
}

describe('what is sent', () => {
  const authorization = `Bearer ${token}`;
  const { qrUrl: qr_url, qrcId: qrc_id, fingerprint, reference } = order;
  const paid = { qr_url, qrc_id, amount_kopecks: 15_000, fingerprint, reference };
  test.each([
    ['resolve', () => gateway.resolve(order.qrUrl, requester), 'POST /base/qr/resolve', { qr_url }],
    ['pay', () => gateway.pay(order), `PUT /base/orders/${paymentId}`, paid],
    ['poll', () => gateway.poll(order), `GET /base/orders/${paymentId}`, undefined],
    ['void', () => gateway.void(order), `POST /base/orders/${paymentId}/void`, undefined],
  ])('%s', async (_name, call, line, body) => {
    const sent = listenOnce({});
    await call();
    expect(await sent).toEqual({ line, authorization, body });
  });

  test('without a token there is no such header', async () => {
    const open = createHttpGateway({ url: bank.url, token: undefined, clock: systemClock });
    onTestFinished(() => open.close());
    const sent = listenOnce({});
    await open.poll(order);
    expect(await sent).not.toHaveProperty('authorization');
  });
});

describe('resolve', () => {
  const resolve = (of = gateway) => of.resolve(order.qrUrl, requester);
  const answer = {
    ...{ qrc_id: order.qrcId, scenario: 'C2B', recipient: 'Кофейня', recipient_id: 'MB0000123456' },
    ...{ amount_kopecks: 15_000, purpose: 'Оплата', expires_at: null, fingerprint: 'f1' },
  };
  const { qrc_id: qrcId, scenario, recipient, recipient_id: recipientId, purpose, fingerprint } = answer;
  const qr = { qrcId, scenario, recipient, recipientId, amountKopecks: 15_000n, purpose, fingerprint };

  test('returns every field', async () => {
    bank.answerWith(answer);
    expect(await resolve()).toEqual({ outcome: 'resolved', qr });
    bank.answerWith({ ...answer, amount_kopecks: null, expires_at: '2026-11-15T10:00:00Z', extra: 1 });
    expect(await resolve()).toEqual({ outcome: 'resolved', qr: { ...qr, amountKopecks: null } });
  });

  test('the longest texts that are accepted', async () => {
    const texts = { recipient: 'ж'.repeat(500), purpose: 'x'.repeat(2_000), fingerprint: 'y'.repeat(2_000) };
    bank.answerWith({ ...answer, ...texts });
    expect(await resolve()).toEqual({ outcome: 'resolved', qr: { ...qr, ...texts } });
  });

  test.each([
    [404, { code: 'QR_CODE_NOT_FOUND' }, 'invalid_qr'],
    [410, { code: 'QR_EXPIRED' }, 'invalid_qr'],
    [422, { code: 'QR_UNRESOLVABLE' }, 'qr_unresolvable'],
    [503, { code: 'UNAVAILABLE' }, 'gateway_unavailable'],
    [503, '<h1>503</h1>', 'gateway_unavailable'],
    // Not an answer of the contract, so it proves nothing about the QR code.
    [404, '<h1>404</h1>', 'qr_unresolvable'],
    [404, { code: 'NOT_FOUND' }, 'qr_unresolvable'],
    [410, {}, 'qr_unresolvable'],
    [500, { code: 'INTERNAL' }, 'qr_unresolvable'],
    [302, '', 'qr_unresolvable'],
    [200, '{"qrc_id": ', 'qr_unresolvable'],
    [200, '[]', 'qr_unresolvable'],
    [200, 'null', 'qr_unresolvable'],
  ])('%i %j is %s', async (status, body, outcome) => {
    bank.answerWith(body, status);
    expect(await resolve()).toEqual({ outcome });
  });

  test.each([
    { qrc_id: 7 },
    { scenario: null },
    { recipient: undefined },
    { recipient: 'a\0b' },
    { recipient_id: ['MB1'] },
    { purpose: {} },
    { fingerprint: undefined },
    { recipient: 'ж'.repeat(501) },
    { recipient_id: 'x'.repeat(501) },
    { scenario: 'x'.repeat(501) },
    { qrc_id: 'x'.repeat(501) },
    { purpose: 'x'.repeat(2_001) },
    { fingerprint: 'x'.repeat(2_001) },
    { amount_kopecks: undefined },
    { amount_kopecks: '15000' },
    { amount_kopecks: 0 },
    { amount_kopecks: -1 },
    { amount_kopecks: 150.5 },
    { amount_kopecks: 2 ** 53 },
  ])('an answer with %o is none', async change => {
    bank.answerWith({ ...answer, ...change });
    expect(await resolve()).toEqual({ outcome: 'qr_unresolvable' });
  });

  test('silence is qr_unresolvable, even after the headers', async () => {
    bank.answer(() => {});
    expect(await resolve(hasty)).toEqual({ outcome: 'qr_unresolvable' });
    bank.answer((_request, response) => response.writeHead(200).flushHeaders());
    expect(await resolve(hasty)).toEqual({ outcome: 'qr_unresolvable' });
  });

  test('a refused connection is gateway_unavailable', async () => {
    expect(await resolve(gatewayAt('http://127.0.0.1:1'))).toEqual({ outcome: 'gateway_unavailable' });
    bank.answer((_request, response) => response.destroy());
    expect(await resolve()).toEqual({ outcome: 'gateway_unavailable' });
  });
});

describe('an order', () => {
  const orderId = 'ord_1';

  describe.each(callNames)('by %s', name => {
    test.each(['accepted', 'succeeded'] as const)('is %s', async state => {
      bank.answerWith({ order_id: orderId, state, reason: null });
      expect(await calls(gateway)[name]()).toEqual({ outcome: state, orderId });
    });

    const codes: [code: string, reasons: unknown[]][] = [
      ['qr_expired', ['QR_EXPIRED', 'QR_CODE_NOT_FOUND']],
      ['qr_already_paid', ['QR_ALREADY_PAID']],
      ['recipient_unavailable', ['ACCOUNT_BLOCKED', 'ACCOUNT_CLOSED']],
      ['limit_exceeded', ['LIMIT_EXCEEDED']],
      ['suspected_fraud', ['SUSPECTED_FRAUD']],
      [
        'gateway_declined',
        [
          ...words(`INSUFFICIENT_FUNDS NOT_PERMITTED OPERATION_NOT_SUPPORTED PAYMENT_EXECUTION_REJECTED
            VALIDATION_ERROR INTEGRATION_ERROR TECH_ERROR SOMETHING_NEW constructor __proto__`),
          ...[null, undefined, 7],
        ],
      ],
    ];
    test.each(codes)('is declined: %s', async (code, reasons) => {
      for (const reason of reasons) {
        bank.answerWith({ order_id: orderId, state: 'declined', reason });
        const declined = { reason, outcome: 'declined', orderId, code };
        expect({ reason, ...(await calls(gateway)[name]()) }).toEqual(declined);
      }
    });

    test.each(
      words(`PAYER_BANK_TIMEOUT GATEWAY_TIMEOUT UNEXPECTED_GATEWAY_RESPONSE OPERATION_IN_PROGRESS
        UNKNOWN_ERROR`),
    )('is unknown when declined for %s', async reason => {
      bank.answerWith({ order_id: orderId, state: 'declined', reason });
      expect(await calls(gateway)[name]()).toEqual({ outcome: 'unknown', why: `declined for ${reason}` });
    });
  });

  test.each([
    [409, 'QR_CHANGED', 'qr_changed'],
    [409, 'VOIDED', 'voided'],
    [429, 'BUSY', 'gateway_busy'],
    [503, 'UNAVAILABLE', 'gateway_unavailable'],
  ])('is refused before acceptance with %i %s, only when it is to be paid', async (status, code, refusal) => {
    bank.answerWith({ code }, status);
    expect(await gateway.pay(order)).toEqual({ outcome: 'refused', code: refusal });
    expect(await gateway.poll(order)).toMatchObject({ outcome: 'unknown' });
    expect(await gateway.void(order)).toMatchObject({ outcome: 'unknown' });
  });

  test('is unknown to the bank side, which only a poll may answer', async () => {
    bank.answerWith({ code: 'ORDER_UNKNOWN' }, 404);
    expect(await gateway.poll(order)).toEqual({ outcome: 'order_unknown' });
    expect(await gateway.pay(order)).toMatchObject({ outcome: 'unknown' });
    expect(await gateway.void(order)).toMatchObject({ outcome: 'unknown' });
  });

  test('is voided, which only a void may answer', async () => {
    bank.answerWith({ state: 'voided' });
    expect(await gateway.void(order)).toEqual({ outcome: 'voided' });
    expect(await gateway.pay(order)).toMatchObject({ outcome: 'unknown' });
    expect(await gateway.poll(order)).toMatchObject({ outcome: 'unknown' });
    bank.answerWith({ state: 'voided' }, 202);
    expect(await gateway.void(order)).toMatchObject({ outcome: 'unknown' });
  });

  test('over the requested amount is accepted', async () => {
    bank.answerWith({ order_id: orderId, state: 'succeeded', reason: null, amount_kopecks: 15_000 });
    expect(await gateway.pay(order)).toEqual({ outcome: 'succeeded', orderId });
  });
});

describe('the list of orders', () => {
  const at = '2026-11-15T10:00:00.000Z';
  const listed = (change: object = {}) => ({
    ...{ payment_id: newPaymentId(), order_id: 'ord_000000001', state: 'succeeded', reason: null },
    ...{ amount_kopecks: 15_000, qrc_id: 'AD10004MV5CJ3D638358RO81129CE63P', created_at: at, updated_at: at },
    ...change,
  });
  const list = () => gateway.listOrders(new Date(0));

  test.each([
    ['as it was sent', 'a'.repeat(1_024), 'a'.repeat(1_024)],
    ['of a bank side that does not know it', undefined, null],
    ['that is null', null, null],
    ['that is too long', 'a'.repeat(1_025), null],
    ['that cannot be stored', 'a\0b', null],
    ['that is no text', 7, null],
  ])('a reference %s fails no page', async (_case, reference, expected) => {
    bank.answerWith({ orders: [listed({ reference }), listed({ reference: 'r' })], next_cursor: null });
    const { orders } = await list();
    expect(orders.map(order => order.reference)).toEqual([expected, 'r']);
  });

  test.each([
    ['as SBP gives it', 'A63191000000000100000700117005', 'A63191000000000100000700117005'],
    ['that is left out', undefined, undefined],
    ['that is null', null, undefined],
    ['that is empty', '', null],
    ['with a space', 'A 1', null],
    ['that is too long', 'A'.repeat(65), null],
    ['in other letters', 'А1', null],
    ['that is no text', 7, null],
  ])('an operation number %s leaves the order as it is', async (_case, operation_number, expected) => {
    bank.answerWith({ order_id: 'o', state: 'succeeded', operation_number });
    const kept = expected === undefined ? {} : { operationNumber: expected };
    expect(await gateway.poll(order)).toEqual({ outcome: 'succeeded', orderId: 'o', ...kept });
    bank.answerWith({ order_id: 'o', state: 'accepted', operation_number });
    expect(await gateway.poll(order)).toEqual({ outcome: 'accepted', orderId: 'o' });
    bank.answerWith({ orders: [listed({ operation_number })], next_cursor: null });
    expect((await list()).orders.map(one => one.operationNumber)).toEqual([expected ?? null]);
  });

  test('a page of a thousand orders with the longest references is read', async () => {
    const texts = { order_id: 'o'.repeat(256), reference: 'r'.repeat(1_024) };
    bank.answerWith({ orders: Array.from({ length: 1_000 }, () => listed(texts)), next_cursor: 'next' });
    const { orders, nextCursor } = await list();
    expect(orders).toHaveLength(1_000);
    expect(orders.every(({ reference }) => reference === texts.reference)).toBe(true);
    expect(nextCursor).toBe('next');
  });

  test('a page that is too long is not read to its end', async () => {
    bank.answerWith({ orders: [listed({ reference: 'r'.repeat(5 * 1024 * 1024) })], next_cursor: null });
    await expect(list()).rejects.toThrow('returned no list of orders');
  });
});
