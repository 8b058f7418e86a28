import { describe, expect, test } from 'vitest';
import { makeQr, nextPaymentId, startSimulator } from '../helpers/simulator.ts';

const simulator = await startSimulator();
const { call } = simulator;
const refused = (status: number, code: string) => ({ status, body: { code, message: expect.any(String) } });
const change = (qrcId: string, fields: object) => call('PATCH', `/sim/qrs/${qrcId}`, fields);

const foreign =
  'https://qr.nspk.ru/AS100074QCPTCVTO8JM9NO8IDAIQPHPB?type=01&bank=100000000061&sum=1000&cur=RUB';

describe('POST /qr/resolve', () => {
  test('answers everything about a QR made here', async () => {
    const qr = await makeQr(simulator, {
      recipient: 'Кофейня',
      recipient_id: 'MB0000000007',
      purpose: 'Чек 5',
    });
    expect(await qr.resolve()).toEqual({
      status: 200,
      body: {
        qrc_id: qr.qrc_id,
        scenario: 'C2B',
        recipient: 'Кофейня',
        recipient_id: 'MB0000000007',
        amount_kopecks: 15_000,
        purpose: 'Чек 5',
        expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
        fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
    });
  });

  test('a link made elsewhere that carries an amount always resolves the same', async () => {
    const first = await call('POST', '/qr/resolve', { qr_url: `${foreign}&crc=2FF3` });
    expect(first.body).toMatchObject({ scenario: 'C2B', amount_kopecks: 1000, expires_at: null });
    expect(first.body.recipient_id).toMatch(/^MB\d{10}$/);
    expect(await call('POST', '/qr/resolve', { qr_url: `${foreign}&crc=2ff3` })).toEqual(first);
    expect(await call('POST', '/qr/resolve', { qr_url: foreign })).toEqual(first);
  });

  test.each([
    [
      'a link without an amount',
      'https://qr.nspk.ru/AS1R004PRL5RNGBA9ARPLJLTDO94S3J9?type=01&bank=100000000061',
    ],
    ['a damaged link', `${foreign}&crc=2FF4`],
    ['an amount of zero', 'https://qr.nspk.ru/AS1R004PRL5RNGBA9ARPLJLTDO94S3J9?sum=0'],
    ['another host', 'https://example.com/AS1R004PRL5RNGBA9ARPLJLTDO94S3J9?sum=100'],
    ['no link at all', 'hello'],
  ])('does not know %s', async (_, qr_url) => {
    expect(await call('POST', '/qr/resolve', { qr_url })).toEqual(refused(404, 'QR_CODE_NOT_FOUND'));
  });

  test('an expired QR is gone, and its order is declined', async () => {
    const qr = await makeQr(simulator, { expires_in_sec: 0 });
    expect(await qr.resolve()).toEqual(refused(410, 'QR_EXPIRED'));
    expect((await qr.pay(nextPaymentId())).body).toMatchObject({ state: 'declined', reason: 'QR_EXPIRED' });
  });
});

describe('PUT /orders/{id}', () => {
  test('pays once, however often it is called', async () => {
    const [qr, paymentId] = [await makeQr(simulator), nextPaymentId()];
    const [first, ...again] = await Promise.all([1, 2, 3].map(() => qr.pay(paymentId)));
    expect(first).toEqual({
      status: 200,
      body: {
        payment_id: paymentId,
        order_id: expect.stringMatching(/^ord_\d{9}$/),
        state: 'succeeded',
        reason: null,
        amount_kopecks: 15_000,
        qrc_id: qr.qrc_id,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    });
    for (const answer of again) expect(answer).toEqual(first);
    expect(await call('GET', `/orders/${paymentId}`)).toEqual(first);
    expect(await call('POST', `/orders/${paymentId}/void`)).toEqual(first);
  });

  test('keeps the first reference, and gives it back with the order and in the list', async () => {
    const [qr, paymentId] = [await makeQr(simulator), nextPaymentId()];
    const reference = 'ж"\\'.repeat(341);
    expect(await qr.pay(paymentId, { reference: `${reference}xx` })).toEqual(refused(400, 'BAD_REQUEST'));
    expect(await qr.pay(paymentId, { reference: 7 })).toEqual(refused(400, 'BAD_REQUEST'));
    expect((await qr.pay(paymentId, { reference })).body).toMatchObject({ reference });
    expect((await qr.pay(paymentId, { reference: 'another' })).body).toMatchObject({ reference });
    expect((await call('GET', `/orders/${paymentId}`)).body).toMatchObject({ reference });
    const { orders } = (await call('GET', '/orders?limit=1000')).body;
    expect(orders).toContainEqual(expect.objectContaining({ payment_id: paymentId, reference }));
  });

  test('refuses the same id for another QR or amount', async () => {
    const [qr, other, paymentId] = [await makeQr(simulator), await makeQr(simulator), nextPaymentId()];
    await qr.pay(paymentId);
    expect(await qr.pay(paymentId, { amount_kopecks: 1 })).toEqual(refused(409, 'ORDER_MISMATCH'));
    expect(await other.pay(paymentId)).toEqual(refused(409, 'ORDER_MISMATCH'));
  });

  test('refuses a QR that changed since it was resolved, and takes the same id later', async () => {
    const [qr, paymentId] = [await makeQr(simulator), nextPaymentId()];
    const { body: changed } = await change(qr.qrc_id, { amount_kopecks: 20_000 });
    expect(changed.fingerprint).not.toBe(qr.fingerprint);
    expect(await qr.pay(paymentId)).toEqual(refused(409, 'QR_CHANGED'));
    expect(await call('GET', `/orders/${paymentId}`)).toEqual(refused(404, 'ORDER_UNKNOWN'));
    const { fingerprint, amount_kopecks } = (await qr.resolve()).body;
    expect((await qr.pay(paymentId, { fingerprint, amount_kopecks })).body.state).toBe('succeeded');
  });

  test('a one-time QR is paid by one order only, a reusable one by any number', async () => {
    const [once, often] = [await makeQr(simulator), await makeQr(simulator, { reusable: true })];
    const states = await Promise.all([1, 2, 3].map(() => once.pay(nextPaymentId())));
    expect(states.map(({ body }) => body.reason).sort()).toEqual(
      [null, 'QR_ALREADY_PAID', 'QR_ALREADY_PAID'].sort(),
    );
    for (const _ of [1, 2]) expect((await often.pay(nextPaymentId())).body.state).toBe('succeeded');
  });

  test('a one-time QR with an order under way takes no other, until that is declined', async () => {
    const qr = await makeQr(simulator);
    await qr.fault({ on: 'pay', kind: 'finish_later', ms: 500, outcome: 'declined', times: 1 });
    expect((await qr.pay(nextPaymentId())).body.state).toBe('accepted');
    expect((await qr.pay(nextPaymentId())).body.reason).toBe('OPERATION_IN_PROGRESS');
    await expect
      .poll(async () => (await qr.pay(nextPaymentId())).body.state, { timeout: 5_000 })
      .toBe('succeeded');
  });

  test.each([
    [{ scenario: 'C2B_SUBSCRIPTION', amount_kopecks: null }, 100, 'OPERATION_NOT_SUPPORTED'],
    [{ scenario: 'C2B' }, 15_001, 'VALIDATION_ERROR'],
    [{ scenario: 'C2B_OPEN_SUM', amount_kopecks: null }, 777, null],
    [{ scenario: 'C2B_CASH_REGISTER' }, 15_000, null],
  ])('decides %o paid with %i kopecks: %s', async (fields, amount_kopecks, reason) => {
    const qr = await makeQr(simulator, fields);
    expect((await qr.pay(nextPaymentId(), { amount_kopecks })).body).toMatchObject({
      amount_kopecks,
      reason,
    });
  });

  test('pays a link made elsewhere, and declines one it cannot resolve', async () => {
    const request = (await call('POST', '/qr/resolve', { qr_url: foreign })).body;
    const paid = await call('PUT', `/orders/${nextPaymentId()}`, { qr_url: foreign, ...request });
    expect(paid.body.state).toBe('succeeded');
    const qr_url = foreign.replace('&sum=1000&cur=RUB', '');
    const declined = await call('PUT', `/orders/${nextPaymentId()}`, { ...request, qr_url });
    expect(declined.body).toMatchObject({ state: 'declined', reason: 'QR_CODE_NOT_FOUND' });
  });
});

test('a voided id stays refused and unknown', async () => {
  const [qr, paymentId] = [await makeQr(simulator), nextPaymentId()];
  for (const _ of [1, 2]) {
    expect(await call('POST', `/orders/${paymentId}/void`)).toEqual({
      status: 200,
      body: { state: 'voided' },
    });
    expect(await qr.pay(paymentId)).toEqual(refused(409, 'VOIDED'));
    expect(await call('GET', `/orders/${paymentId}`)).toEqual(refused(404, 'ORDER_UNKNOWN'));
  }
  expect((await qr.pay(nextPaymentId())).body.state).toBe('succeeded');
});

test('GET /orders gives every order once, in the order of creation', async () => {
  const qr = await makeQr(simulator, { reusable: true });
  await new Promise(resolve => setTimeout(resolve, 2));
  const since = new Date().toISOString();
  const paymentIds = Array.from({ length: 5 }, nextPaymentId);
  for (const paymentId of paymentIds) await qr.pay(paymentId);
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = `since=${since}&limit=2${cursor && `&cursor=${cursor}`}`;
    const { body } = await call('GET', `/orders?${query}`);
    seen.push(...body.orders.map((order: { payment_id: string }) => order.payment_id));
    cursor = body.next_cursor;
  }
  expect(seen).toEqual(paymentIds);
  expect((await call('GET', '/orders?since=2999-01-01T00:00:00Z')).body).toEqual({
    orders: [],
    next_cursor: null,
  });
  for (const query of ['since=yesterday', 'cursor=x', 'limit=0', 'limit=1001', 'limit=ten']) {
    expect(await call('GET', `/orders?${query}`)).toEqual(refused(400, 'BAD_REQUEST'));
  }
});

test('with a token, the wire contract requires it', async () => {
  const guarded = await startSimulator({ GATEWAY_TOKEN: 'let-me-in' });
  const wire = [
    ['POST', '/qr/resolve', { qr_url: foreign }, 200],
    ['GET', '/orders/pay_x', undefined, 404],
    ['PUT', '/orders/pay_x', {}, 400],
    ['POST', '/orders/pay_x/void', undefined, 200],
    ['GET', '/orders', undefined, 200],
  ] as const;
  for (const [method, path, body, status] of wire) {
    expect(await guarded.call(method, path, body)).toEqual(refused(401, 'UNAUTHORIZED'));
    expect(await guarded.call(method, path, body, 'wrong')).toEqual(refused(401, 'UNAUTHORIZED'));
    expect((await guarded.call(method, path, body, 'let-me-in')).status).toBe(status);
  }
  expect((await guarded.call('GET', '/rate')).status).toBe(200);
});
