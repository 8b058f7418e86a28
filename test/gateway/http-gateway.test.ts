import { createServer, type Socket } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { createHttpGateway, type Gateway, type Order } from '../../src/gateway/index.ts';
import { newPaymentId } from '../helpers/database.ts';
import { startLocalServer } from '../helpers/http.ts';

const token = 'a-token-that-nobody-may-see';
const bank = await startLocalServer();
const openGateways: Gateway[] = [];
afterAll(() => Promise.all(openGateways.map(gateway => gateway.close())));

function gatewayAt(url: string, timeoutMs = 5_000): Gateway {
  const timeouts = { resolveTimeoutMs: timeoutMs, payTimeoutMs: timeoutMs, pollTimeoutMs: timeoutMs };
  const gateway = createHttpGateway({ url, token, ...timeouts });
  openGateways.push(gateway);
  return gateway;
}

const gateway = gatewayAt(`${bank.url}/base/`);
const hasty = gatewayAt(bank.url, 150);
const paymentId = newPaymentId();
const order: Order = {
  paymentId,
  qrUrl: 'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P',
  qrcId: 'AD10004MV5CJ3D638358RO81129CE63P',
  amountKopecks: 15_000n,
  fingerprint: 'f1',
};

/** The three calls on an order; what is unknown is unknown of each. */
const calls = (of: Gateway) => ({
  pay: () => of.pay(order),
  poll: () => of.poll(order),
  void: () => of.void(order),
});
const callNames = ['pay', 'poll', 'void'] as const;

/** What was sent, once the bank has read all of it. */
function listenOnce(answer: object): Promise<{ line: string; authorization?: string; body: unknown }> {
  return new Promise(resolve => {
    bank.answer(async (request, response) => {
      let text = '';
      for await (const chunk of request) text += chunk;
      response.end(JSON.stringify(answer));
      const { authorization } = request.headers;
      const body = text === '' ? undefined : JSON.parse(text);
      resolve({
        line: `${request.method} ${request.url}`,
        ...(authorization ? { authorization } : {}),
        body,
      });
    });
  });
}

describe('what is sent', () => {
  const authorization = `Bearer ${token}`;
  const { qrUrl: qr_url, qrcId: qrc_id, fingerprint } = order;

  test.each([
    ['resolve', () => gateway.resolve(order.qrUrl), 'POST /base/qr/resolve', { qr_url }],
    [
      'pay',
      () => gateway.pay(order),
      `PUT /base/orders/${paymentId}`,
      { qr_url, qrc_id, amount_kopecks: 15_000, fingerprint },
    ],
    ['poll', () => gateway.poll(order), `GET /base/orders/${paymentId}`, undefined],
    ['void', () => gateway.void(order), `POST /base/orders/${paymentId}/void`, undefined],
  ])('%s', async (_name, call, line, body) => {
    const sent = listenOnce({});
    await call();
    expect(await sent).toEqual({ line, authorization, body });
  });

  test('without a token there is no such header', async () => {
    const open = createHttpGateway({ url: bank.url, token: undefined });
    openGateways.push(open);
    const sent = listenOnce({});
    await open.poll(order);
    expect(await sent).not.toHaveProperty('authorization');
  });
});

describe('resolve', () => {
  const answer = {
    qrc_id: order.qrcId,
    scenario: 'C2B',
    recipient: 'Кофейня',
    recipient_id: 'MB0000123456',
    amount_kopecks: 15_000,
    purpose: 'Оплата',
    expires_at: null,
    fingerprint: 'f1',
  };
  const qr = {
    qrcId: order.qrcId,
    scenario: 'C2B',
    recipient: 'Кофейня',
    recipientId: 'MB0000123456',
    amountKopecks: 15_000n,
    purpose: 'Оплата',
    fingerprint: 'f1',
  };

  test('tells all there is to know', async () => {
    bank.answerWith(answer);
    expect(await gateway.resolve(order.qrUrl)).toEqual({ outcome: 'resolved', qr });
    bank.answerWith({ ...answer, amount_kopecks: null, expires_at: '2026-11-15T10:00:00Z', extra: 1 });
    expect(await gateway.resolve(order.qrUrl)).toEqual({
      outcome: 'resolved',
      qr: { ...qr, amountKopecks: null },
    });
  });

  test.each([
    [404, { code: 'QR_CODE_NOT_FOUND' }, 'invalid_qr'],
    [410, { code: 'QR_EXPIRED' }, 'invalid_qr'],
    [422, { code: 'QR_UNRESOLVABLE' }, 'qr_unresolvable'],
    [503, { code: 'UNAVAILABLE' }, 'gateway_unavailable'],
    [503, '<h1>503</h1>', 'gateway_unavailable'],
    // Not the gateway's own words, so nothing is said of the code.
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
    expect(await gateway.resolve(order.qrUrl)).toEqual({ outcome });
  });

  test.each([
    { qrc_id: 7 },
    { scenario: null },
    { recipient: undefined },
    { recipient: 'a\0b' },
    { recipient_id: ['MB1'] },
    { purpose: {} },
    { fingerprint: undefined },
    { amount_kopecks: undefined },
    { amount_kopecks: '15000' },
    { amount_kopecks: 0 },
    { amount_kopecks: -1 },
    { amount_kopecks: 150.5 },
    { amount_kopecks: 2 ** 53 },
  ])('an answer with %o is none', async change => {
    bank.answerWith({ ...answer, ...change });
    expect(await gateway.resolve(order.qrUrl)).toEqual({ outcome: 'qr_unresolvable' });
  });

  test('silence is qr_unresolvable, even after the headers', async () => {
    bank.answer(() => {});
    expect(await hasty.resolve(order.qrUrl)).toEqual({ outcome: 'qr_unresolvable' });
    bank.answer((_request, response) => response.writeHead(200).flushHeaders());
    expect(await hasty.resolve(order.qrUrl)).toEqual({ outcome: 'qr_unresolvable' });
  });

  test('nobody there is gateway_unavailable', async () => {
    const nowhere = gatewayAt('http://127.0.0.1:1');
    expect(await nowhere.resolve(order.qrUrl)).toEqual({ outcome: 'gateway_unavailable' });
    bank.answer((_request, response) => response.destroy());
    expect(await gateway.resolve(order.qrUrl)).toEqual({ outcome: 'gateway_unavailable' });
  });
});

describe('an order', () => {
  const orderId = 'ord_1';

  describe.each(callNames)('by %s', name => {
    test.each(['accepted', 'succeeded'] as const)('is %s', async state => {
      bank.answerWith({ order_id: orderId, state, reason: null });
      expect(await calls(gateway)[name]()).toEqual({ outcome: state, orderId });
    });

    test.each([
      ['QR_EXPIRED', 'qr_expired'],
      ['QR_CODE_NOT_FOUND', 'qr_expired'],
      ['QR_ALREADY_PAID', 'qr_already_paid'],
      ['ACCOUNT_BLOCKED', 'recipient_unavailable'],
      ['ACCOUNT_CLOSED', 'recipient_unavailable'],
      ['LIMIT_EXCEEDED', 'limit_exceeded'],
      ['SUSPECTED_FRAUD', 'suspected_fraud'],
      ['INSUFFICIENT_FUNDS', 'gateway_declined'],
      ['NOT_PERMITTED', 'gateway_declined'],
      ['OPERATION_NOT_SUPPORTED', 'gateway_declined'],
      ['PAYMENT_EXECUTION_REJECTED', 'gateway_declined'],
      ['VALIDATION_ERROR', 'gateway_declined'],
      ['INTEGRATION_ERROR', 'gateway_declined'],
      ['TECH_ERROR', 'gateway_declined'],
      ['SOMETHING_NEW', 'gateway_declined'],
      ['constructor', 'gateway_declined'],
      ['__proto__', 'gateway_declined'],
      [null, 'gateway_declined'],
      [undefined, 'gateway_declined'],
      [7, 'gateway_declined'],
    ])('is declined for %s: %s', async (reason, code) => {
      bank.answerWith({ order_id: orderId, state: 'declined', reason });
      expect(await calls(gateway)[name]()).toEqual({ outcome: 'declined', orderId, code });
    });

    test.each([
      'PAYER_BANK_TIMEOUT',
      'GATEWAY_TIMEOUT',
      'UNEXPECTED_GATEWAY_RESPONSE',
      'OPERATION_IN_PROGRESS',
      'UNKNOWN_ERROR',
    ])('is unknown when declined for %s', async reason => {
      bank.answerWith({ order_id: orderId, state: 'declined', reason });
      expect(await calls(gateway)[name]()).toEqual({ outcome: 'unknown', why: `declined for ${reason}` });
    });
  });

  test.each([
    [409, 'QR_CHANGED', 'qr_changed'],
    [409, 'VOIDED', 'voided'],
    [429, 'BUSY', 'gateway_busy'],
    [503, 'UNAVAILABLE', 'gateway_unavailable'],
  ])(
    'is refused before acceptance with %i %s, and only when it is to be paid',
    async (status, code, refusal) => {
      bank.answerWith({ code }, status);
      expect(await gateway.pay(order)).toEqual({ outcome: 'refused', code: refusal });
      expect(await gateway.poll(order)).toMatchObject({ outcome: 'unknown' });
      expect(await gateway.void(order)).toMatchObject({ outcome: 'unknown' });
    },
  );

  test('is not known, which only polling may say', async () => {
    bank.answerWith({ code: 'ORDER_UNKNOWN' }, 404);
    expect(await gateway.poll(order)).toEqual({ outcome: 'order_unknown' });
    expect(await gateway.pay(order)).toMatchObject({ outcome: 'unknown' });
    expect(await gateway.void(order)).toMatchObject({ outcome: 'unknown' });
  });

  test('is voided, which only voiding may say', async () => {
    bank.answerWith({ state: 'voided' });
    expect(await gateway.void(order)).toEqual({ outcome: 'voided' });
    expect(await gateway.pay(order)).toMatchObject({ outcome: 'unknown' });
    expect(await gateway.poll(order)).toMatchObject({ outcome: 'unknown' });
    bank.answerWith({ state: 'voided' }, 202);
    expect(await gateway.void(order)).toMatchObject({ outcome: 'unknown' });
  });

  test('over the amount that was asked for is fine', async () => {
    bank.answerWith({ order_id: orderId, state: 'succeeded', reason: null, amount_kopecks: 15_000 });
    expect(await gateway.pay(order)).toEqual({ outcome: 'succeeded', orderId });
  });
});

const fine = { order_id: 'ord_1', state: 'succeeded', reason: null };

describe.each(callNames)('unknown, by %s:', name => {
  const ask = (of = gateway) => calls(of)[name]();
  const unknown = { outcome: 'unknown', why: expect.not.stringContaining(token) };

  test.each([
    ['5xx without the gateway’s own body', 502, '<h1>502</h1>'],
    ['500 with a body', 500, { code: 'INTERNAL' }],
    ['503 with a foreign body', 503, '{"message":"upstream"}'],
    ['500 that looks like an order', 500, fine],
    ['201 that looks like an order', 201, fine],
    ['409 with a foreign code', 409, { code: 'ORDER_MISMATCH' }],
    ['409 without a code', 409, {}],
    ['429 of somebody in between', 429, 'slow down'],
    ['400 with a code of another status', 400, { code: 'QR_CHANGED' }],
    ['409 with a code of another status', 409, { code: 'BUSY' }],
    ['401', 401, { code: 'UNAUTHORIZED' }],
    ['404 of somebody in between', 404, '<h1>404</h1>'],
    ['404 with a foreign code', 404, { code: 'NOT_FOUND' }],
    ['JSON that ends too soon', 200, '{"order_id":"ord_1","state":"succ'],
    ['an empty body', 200, ''],
    ['a list', 200, [fine]],
    ['null', 200, null],
    ['a text', 200, '"succeeded"'],
    ['no order_id', 200, { state: 'succeeded', reason: null }],
    ['an empty order_id', 200, { ...fine, order_id: '' }],
    ['an order_id that is no text', 200, { ...fine, order_id: 7 }],
    ['an order_id that cannot be stored', 200, { ...fine, order_id: 'ord\0' }],
    ['no state', 200, { order_id: 'ord_1' }],
    ['a state that is not in the contract', 200, { ...fine, state: 'pending' }],
    ['a state that is no text', 200, { ...fine, state: ['succeeded'] }],
    ['a body that never ends well', 200, `${JSON.stringify(fine)}${' '.repeat(70_000)}`],
    ['a declined order with a word too many', 200, `${JSON.stringify({ ...fine, state: 'declined' })}x`],
  ])('%s', async (_case, status, body) => {
    bank.answerWith(body, status);
    expect(await ask()).toEqual(unknown);
  });

  test('a redirect, which is not followed', async () => {
    bank.answer((request, response) =>
      request.url!.endsWith('/elsewhere')
        ? response.end(JSON.stringify(fine))
        : response.writeHead(307, { location: `${bank.url}/elsewhere` }).end(),
    );
    expect(await ask()).toEqual(unknown);
    expect(bank.requests).toHaveLength(1);
  });

  test('nobody there', async () => {
    expect(await ask(gatewayAt('http://127.0.0.1:1'))).toEqual({ outcome: 'unknown', why: 'ECONNREFUSED' });
  });

  test('a connection that breaks before the headers', async () => {
    bank.answer((_request, response) => response.destroy());
    expect(await ask()).toEqual(unknown);
  });

  test('a connection that breaks after the headers', async () => {
    bank.answer((_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write(JSON.stringify(fine), () => response.destroy());
    });
    expect(await ask()).toEqual(unknown);
  });

  test('an answer that is not HTTP', async () => {
    const server = createServer((socket: Socket) => socket.end('hello\r\n\r\n')).listen(0, '127.0.0.1');
    await new Promise(resolve => server.once('listening', resolve));
    const { port } = server.address() as { port: number };
    expect(await ask(gatewayAt(`http://127.0.0.1:${port}`))).toEqual(unknown);
    server.close();
  });

  test('silence', async () => {
    bank.answer(() => {});
    const startMs = performance.now();
    expect(await ask(hasty)).toEqual(unknown);
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });

  test('a body that drips: the deadline counts to its last byte', async () => {
    bank.answer((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    const startMs = performance.now();
    expect(await ask(hasty)).toEqual(unknown);
    expect(performance.now() - startMs).toBeLessThan(2_000);
  });

  test('an endless body is not read to its end', async () => {
    bank.answer((_request, response) => {
      response.writeHead(200);
      const pour = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', pour);
      };
      pour();
    });
    expect(await ask()).toEqual(unknown);
  });
});

test.each([15_001, 14_999, '15000', null, 0])(
  'an order over another amount (%j) is unknown, whichever call tells of it',
  async amount_kopecks => {
    for (const state of ['accepted', 'succeeded', 'declined']) {
      bank.answerWith({ ...fine, state, amount_kopecks });
      for (const name of callNames)
        expect(await calls(gateway)[name]()).toMatchObject({ outcome: 'unknown' });
    }
  },
);
