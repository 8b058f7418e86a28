import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { checkGateway } from '../../src/gateway/index.ts';
import { makeQr, nextPaymentId, openSimulator } from '../helpers/simulator.ts';

const simulator = await openSimulator();
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
  test('refuses the same id for another QR', async () => {
    const [qr, other, paymentId] = [await makeQr(simulator), await makeQr(simulator), nextPaymentId()];
    await qr.pay(paymentId);
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
    await expect.poll(async () => (await qr.pay(nextPaymentId())).body.state).toBe('succeeded');
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

/** Among them: an order is paid once, its reference stays, a void is final, the list has all in pages, and the token. */
test('it passes all checks of a gateway', async () => {
  const token = 'let-me-in';
  const guarded = await openSimulator({ GATEWAY_TOKEN: token });
  const options = { url: guarded.address, token, qrUrl: foreign, pays: true, clock: systemClock };
  const { results } = await checkGateway(options);
  expect(results.filter(({ outcome }) => outcome !== 'passed')).toEqual([]);
  expect((await guarded.call('GET', '/rate')).status).toBe(200);
});

test.each(['since=yesterday', 'cursor=x', 'limit=0', 'limit=1001', 'limit=ten'])(
  'refuses the list with %s',
  async query => expect(await call('GET', `/orders?${query}`)).toEqual(refused(400, 'BAD_REQUEST')),
);
