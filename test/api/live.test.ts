import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { listAlarms } from '../../src/alarms/index.ts';
import { idFromUuid } from '../../src/base/ids.ts';
import { blockRecipient, unblockRecipient } from '../../src/controls/index.ts';
import type { Queryable } from '../../src/db/pool.ts';
import type { Gateway } from '../../src/gateway/index.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { findPartner, setLimits } from '../../src/partners/index.ts';
import {
  type Creation,
  createPayment,
  createPaymentWriter,
  recoverDuePayments,
} from '../../src/payments/index.ts';
import { type Answer, createCustomer, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase, createFundedPartner, newPaymentId } from '../helpers/database.ts';
import { makeQr, startSimulator } from '../helpers/simulator.ts';

const { pool } = await createDatabase();
const clock = manualClock();
const simulator = await startSimulator();
const common = { pool, clock, gatewayUrl: simulator.address };
/** Waits for an outcome for as long as the clock stands. */
const patient = await startApi({ ...common, answerWithinMs: 60_000 });
/** Answers at once with what it knows. */
const hasty = await startApi({ ...common, answerWithinMs: 0, payTimeoutMs: 300 });
const { deps } = patient;

beforeEach(async () => {
  await simulator.call('DELETE', '/sim/faults');
  clock.advance(1);
  await setRate(pool, clock);
});

interface Row {
  id: string;
  status: string;
  status_detail: string | null;
  error_code: string | null;
  gateway_order_id: string | null;
}
const rowsOf = async (qrcId: string) =>
  (
    await pool.query<Row>(
      'SELECT id, status, status_detail, error_code, gateway_order_id FROM payments WHERE qrc_id = $1 ORDER BY id',
      [qrcId],
    )
  ).rows;
const orderOf = async (paymentId: string) => (await simulator.call('GET', `/orders/${paymentId}`)).body;

/** Whatever a test did: the books are right, and what the bank paid is what the partners are told was paid. */
afterEach(async () => {
  expect((await verifyLedger(pool)).findings).toEqual([]);
  const { rows } = await pool.query<Row>(`SELECT id, status FROM payments WHERE mode = 'live'`);
  const idsOf = (status: string) =>
    rows.filter(row => row.status === status).map(row => idFromUuid('pay', row.id) as string);
  const unfinished = new Set(idsOf('processing'));
  const { orders, next_cursor } = (await simulator.call('GET', '/orders?limit=1000')).body;
  expect(next_cursor).toBeNull();
  const paid = orders
    .filter((order: { state: string }) => order.state === 'succeeded')
    .map((order: { payment_id: string }) => order.payment_id)
    .filter((id: string) => !unfinished.has(id));
  expect(paid.toSorted()).toEqual(idsOf('succeeded').toSorted());
});

async function newCustomer(liveMicroUsdt?: bigint) {
  const customer = await createCustomer(pool, liveMicroUsdt);
  const partner = partnerAt(patient.address, customer.liveKey);
  const inHaste = partnerAt(hasty.address, customer.liveKey);
  const balance = async () => (await partner.get('/v1/balance')).json.balance_usdt as string;
  return { ...customer, partner, inHaste, balance };
}

async function qrWith(...faults: object[]) {
  const qr = await makeQr(simulator);
  for (const fault of faults) expect((await qr.fault(fault)).status).toBe(200);
  return qr;
}

/** Waits until a payment for the code is stored and fits. */
const untilRow = (qrcId: string, fits: (row: Row) => boolean = () => true) =>
  vi.waitFor(async () => expect((await rowsOf(qrcId)).some(fits)).toBe(true), {
    timeout: 5_000,
    interval: 10,
  });

const full = '1000.000000';
/** After one payment of 150 rubles at 92.50. */
const less = '998.378378';

/** Waits until the bank has finished with the code. */
const untilBank = (qrcId: string, state: 'paid' | 'open') =>
  vi.waitFor(async () => expect((await simulator.call('GET', `/sim/qrs/${qrcId}`)).body.state).toBe(state), {
    timeout: 5_000,
    interval: 10,
  });

async function recoverAfter(ms: number): Promise<void> {
  clock.advance(ms);
  await recoverDuePayments(deps);
}

const failed = (code: string) => ({
  status: 'failed',
  status_detail: 'gateway_declined',
  settled_at: expect.any(String),
  error: { code, message: expect.any(String) },
});
const underReview = { status: 'processing', status_detail: 'manual_review', settled_at: null, error: null };

describe('the gateway answers at once:', () => {
  test('succeeded', async () => {
    const { partner, balance } = await newCustomer();
    const qr = await qrWith();
    const key = randomUUID();
    const body = { qr_url: qr.link, amount_rub: 150, external_id: 'o-1', metadata: { n: 1 } };
    const paid = await partner.pay(body, key);
    expect(paid.status).toBe(200);
    expect(paid.json).toMatchObject({
      mode: 'live',
      status: 'succeeded',
      status_detail: null,
      external_id: 'o-1',
      recipient: qr.recipient,
      amount_rub: '150.00',
      amount_usdt: '1.621622',
      rate: '92.5000',
      settled_at: expect.any(String),
      error: null,
      metadata: { n: 1 },
    });
    expect(await balance()).toBe(less);
    expect((await partner.get(`/v1/payments/${paid.json.id}`)).text).toBe(paid.text);
    expect((await partner.get('/v1/payments')).json.data).toEqual([paid.json]);
    const again = await partner.pay(body, key);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([paid.text, 'true']);
    expect(paid.headers.get('idempotent-replayed')).toBeNull();
    expect(await orderOf(paid.json.id)).toMatchObject({ state: 'succeeded', amount_kopecks: 15_000 });
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
    ['PAYMENT_EXECUTION_REJECTED', 'gateway_declined'],
    ['TECH_ERROR', 'gateway_declined'],
    ['constructor', 'gateway_declined'],
  ])('declined for %s', async (reason, code) => {
    const { partner, balance } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind: 'decline', reason });
    const { status, json } = await partner.pay({ qr_url: qr.link });
    expect({ status, json }).toMatchObject({ status: 200, json: failed(code) });
    expect((await partner.get(`/v1/payments/${json.id}`)).json).toEqual(json);
    expect(await balance()).toBe(full);
  });

  test('a code that somebody else has paid already', async () => {
    const { partner } = await newCustomer();
    const qr = await qrWith();
    await partner.pay({ qr_url: qr.link });
    expect((await partner.pay({ qr_url: qr.link })).json).toMatchObject(failed('qr_already_paid'));
  });

  test('a failed payment binds its key', async () => {
    const { partner } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind: 'decline', times: 1 });
    const key = randomUUID();
    const first = await partner.pay({ qr_url: qr.link }, key);
    const again = await partner.pay({ qr_url: qr.link }, key);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    const other = await partner.pay({ qr_url: qr.link, external_id: 'x' }, key);
    expect([other.status, other.json.error.code]).toEqual([409, 'idempotency_conflict']);
  });
});

describe('the gateway accepts and finishes later:', () => {
  test.each([
    ['succeeded', {}, { status: 'succeeded', status_detail: null }, less],
    ['declined', { reason: 'LIMIT_EXCEEDED' }, failed('limit_exceeded'), full],
  ])('%s, and all who joined hear it', async (outcome, more, expected, balanceAfter) => {
    const { partner, balance } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind: 'finish_later', ms: 200, outcome, ...more });
    const key = randomUUID();
    const first = partner.pay({ qr_url: qr.link }, key);
    await untilRow(qr.qrc_id, row => row.gateway_order_id !== null);
    const joined = [partner.pay({ qr_url: qr.link }, key), partner.pay({ qr_url: qr.link }, key)];
    expect((await partner.get('/v1/payments')).json.data).toMatchObject([
      { status: 'processing', status_detail: 'awaiting_gateway', settled_at: null, error: null },
    ]);
    expect(await balance()).toBe(less);
    await recoverAfter(1_999);
    expect((await rowsOf(qr.qrc_id))[0]!.status).toBe('processing');
    await untilBank(qr.qrc_id, outcome === 'succeeded' ? 'paid' : 'open');
    await recoverAfter(1);
    const answers = await Promise.all([first, ...joined]);
    for (const { status, text } of answers) expect([status, text]).toEqual([200, answers[0]!.text]);
    expect(answers[0]!.json).toMatchObject(expected);
    expect(await balance()).toBe(balanceAfter);
  });

  test('it is asked after 2, 5, 10, 30 and then every 60 seconds', async () => {
    const { inHaste } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind: 'finish_later', ms: 86_400_000, outcome: 'succeeded' });
    const poll = vi.spyOn(deps.gateway, 'poll');
    const { id } = (await inHaste.pay({ qr_url: qr.link })).json;
    const asked = () => poll.mock.calls.filter(([{ paymentId }]) => paymentId === id).length;
    let count = 0;
    for (const seconds of [2, 5, 10, 30, 60, 60, 60]) {
      await recoverAfter(seconds * 1_000 - 1);
      expect(asked()).toBe(count);
      await recoverAfter(1);
      expect(asked()).toBe(++count);
    }
    poll.mockRestore();
    const { json } = await inHaste.get(`/v1/payments/${id}`);
    expect(json).toMatchObject({ status: 'processing', status_detail: 'awaiting_gateway' });
  });

  test('a request waits for its budget and not longer', async () => {
    const { partner } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind: 'finish_later', ms: 86_400_000, outcome: 'succeeded' });
    const key = randomUUID();
    const first = partner.pay({ qr_url: qr.link }, key);
    await untilRow(qr.qrc_id, row => row.gateway_order_id !== null);
    const joined = partner.pay({ qr_url: qr.link }, key);
    clock.advance(60_000);
    const expected = { status: 'processing', status_detail: 'awaiting_gateway' };
    for (const { json } of await Promise.all([first, joined])) expect(json).toMatchObject(expected);
    expect((await partner.pay({ qr_url: qr.link }, key)).json).toMatchObject(expected);
  });
});

describe('the gateway leaves the outcome unknown:', () => {
  const paidLater = { status: 'succeeded', status_detail: null, error: null };
  test.each([
    ['the answer is lost', [{ kind: 'answer_lost', times: 1 }], paidLater, less],
    [
      'the answer is lost and was a refusal',
      [{ kind: 'decline' }, { kind: 'answer_lost', times: 1 }],
      failed('gateway_declined'),
      full,
    ],
    ['broken JSON', [{ kind: 'broken_json', times: 1 }], paidLater, less],
    ['headers and then nothing', [{ kind: 'stall', times: 1 }], paidLater, less],
    ['the connection breaks before', [{ kind: 'drop_before', times: 1 }], failed('not_executed'), full],
    [
      '502 without a body of its own',
      [{ kind: 'http_error', status: 502, times: 1 }],
      failed('not_executed'),
      full,
    ],
    [
      '409 with a foreign code',
      [{ kind: 'http_error', status: 409, body: { code: 'ODD' }, times: 1 }],
      failed('not_executed'),
      full,
    ],
    [
      '200 with another shape',
      [{ kind: 'http_error', status: 200, body: { ok: true }, times: 1 }],
      failed('not_executed'),
      full,
    ],
    ['later than we wait', [{ kind: 'delay', ms: 30_000, times: 1 }], failed('not_executed'), full],
  ])('%s', async (_case, faults, expected, balanceAfter) => {
    const { inHaste, balance } = await newCustomer();
    const qr = await qrWith(...faults.map(fault => ({ on: 'pay', ...fault })));
    const key = randomUUID();
    const answer = await inHaste.pay({ qr_url: qr.link }, key);
    expect(answer).toMatchObject({ status: 200, json: underReview });
    expect(await balance()).toBe(less);
    expect((await inHaste.pay({ qr_url: qr.link }, key)).json).toEqual(answer.json);
    await recoverAfter(2_000);
    const { json } = await inHaste.get(`/v1/payments/${answer.json.id}`);
    expect(json).toMatchObject(expected);
    expect(await balance()).toBe(balanceAfter);
  });

  test.each(['PAYER_BANK_TIMEOUT', 'GATEWAY_TIMEOUT', 'UNEXPECTED_GATEWAY_RESPONSE', 'UNKNOWN_ERROR'])(
    '"declined" for %s proves nothing, however often it is said',
    async reason => {
      const { inHaste, balance } = await newCustomer();
      const qr = await qrWith({ on: 'pay', kind: 'decline', reason });
      const { json } = await inHaste.pay({ qr_url: qr.link });
      expect(json).toMatchObject(underReview);
      await recoverAfter(2_000);
      await recoverAfter(5_000);
      expect((await inHaste.get(`/v1/payments/${json.id}`)).json).toMatchObject(underReview);
      expect(await balance()).toBe(less);
    },
  );

  test('an order over another amount is never taken for ours, however often it is told', async () => {
    const { inHaste, balance } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind: 'wrong_amount' });
    const { json } = await inHaste.pay({ qr_url: qr.link });
    expect(json).toMatchObject(underReview);
    await recoverAfter(2_000);
    await recoverAfter(5_000);
    expect((await inHaste.get(`/v1/payments/${json.id}`)).json).toMatchObject(underReview);
    expect(await balance()).toBe(less);
  });

  test('a request that waits gets the outcome that recovery finds', async () => {
    const { partner } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind: 'answer_lost', times: 1 });
    const paying = partner.pay({ qr_url: qr.link });
    await untilRow(qr.qrc_id, row => row.status_detail === 'manual_review');
    await recoverAfter(2_000);
    expect((await paying).json).toMatchObject(paidLater);
  });

  test('polling and voiding may fail too: nothing ends before the gateway says so', async () => {
    const { inHaste, balance } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind: 'drop_before', times: 1 });
    const { id } = (await inHaste.pay({ qr_url: qr.link })).json;
    const status = async () => (await inHaste.get(`/v1/payments/${id}`)).json.status;
    const fault = (on: string, kind: string) => simulator.call('PUT', '/sim/faults', { id: 'one', on, kind });
    await fault('poll', 'unavailable');
    await recoverAfter(2_000);
    expect(await status()).toBe('processing');
    await fault('poll', 'broken_json');
    await recoverAfter(5_000);
    expect(await status()).toBe('processing');
    await fault('void', 'unavailable');
    await recoverAfter(10_000);
    expect([await status(), await balance()]).toEqual(['processing', less]);
    await fault('void', 'answer_lost');
    await recoverAfter(30_000);
    expect([await status(), await balance()]).toEqual(['processing', less]);
    await simulator.call('DELETE', '/sim/faults');
    await recoverAfter(60_000);
    expect([await status(), await balance()]).toEqual(['failed', full]);
  });

  test('a late order meets the void: it is refused for ever and nothing is paid', async () => {
    const { partner, inHaste, balance } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind: 'delay', ms: 700, times: 1 });
    const { id } = (await inHaste.pay({ qr_url: qr.link })).json;
    await recoverAfter(2_000);
    expect((await partner.get(`/v1/payments/${id}`)).json).toMatchObject(failed('not_executed'));
    const late = await qr.pay(id);
    expect([late.status, late.body.code]).toEqual([409, 'VOIDED']);
    await new Promise(resolve => setTimeout(resolve, 700));
    expect(await orderOf(id)).toMatchObject({ code: 'ORDER_UNKNOWN' });
    expect(await balance()).toBe(full);
    expect((await partner.pay({ qr_url: qr.link })).json.status).toBe('succeeded');
  });

  test('an order that is on its way when recovery voids it: its request hears that nothing was paid', async () => {
    const { partner, balance } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind: 'delay', ms: 500, times: 1 });
    const paying = partner.pay({ qr_url: qr.link });
    await untilRow(qr.qrc_id);
    await recoverAfter(60_000);
    expect(await paying).toMatchObject({ status: 200, json: failed('not_executed') });
    expect(await balance()).toBe(full);
  });
});

describe('refused before acceptance:', () => {
  test.each([
    ['changed_qr', 409, 'qr_changed'],
    ['busy', 503, 'gateway_busy'],
    ['unavailable', 503, 'gateway_unavailable'],
  ])('%s is %i %s, leaves nothing but a record, and the key stays free', async (kind, status, code) => {
    const { partner, balance } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind, times: 2 });
    const key = randomUUID();
    for (const body of [{ qr_url: qr.link }, { qr_url: qr.link, external_id: 'another body' }]) {
      const refused = await partner.pay(body, key);
      expect([refused.status, refused.json.error.code]).toEqual([status, code]);
    }
    expect(await balance()).toBe(full);
    expect((await partner.get('/v1/payments')).json.data).toEqual([]);
    const attempts = await rowsOf(qr.qrc_id);
    expect(attempts).toMatchObject([
      { status: 'rejected', error_code: code },
      { status: 'rejected', error_code: code },
    ]);
    for (const { id } of attempts)
      expect((await partner.get(`/v1/payments/${idFromUuid('pay', id)}`)).status).toBe(404);
    const paid = await partner.pay({ qr_url: qr.link }, key);
    expect([paid.json.status, paid.headers.get('idempotent-replayed')]).toEqual(['succeeded', null]);
    expect(await balance()).toBe(less);
  });

  test('all who joined hear the refusal, and then the key is free', async () => {
    const { partner, balance } = await newCustomer();
    const qr = await qrWith(
      { on: 'pay', kind: 'delay', ms: 300, times: 1 },
      { on: 'pay', kind: 'busy', times: 1 },
    );
    const key = randomUUID();
    const first = partner.pay({ qr_url: qr.link }, key);
    await untilRow(qr.qrc_id);
    const joined = [1, 2, 3].map(() => partner.pay({ qr_url: qr.link }, key));
    for (const { status, json } of await Promise.all([first, ...joined]))
      expect([status, json.error?.code]).toEqual([503, 'gateway_busy']);
    expect(await balance()).toBe(full);
    expect((await partner.pay({ qr_url: qr.link }, key)).json.status).toBe('succeeded');
  });
});

describe('QR codes', () => {
  test.each([
    ['a one-time code', { scenario: 'C2B' }],
    ['a reusable one', { scenario: 'C2B', reusable: true }],
    ['a cash link with an invoice', { scenario: 'C2B_CASH_REGISTER' }],
  ])('%s can be paid', async (_case, fields) => {
    const { partner, balance } = await newCustomer();
    const qr = await makeQr(simulator, fields);
    const { request_id, ...resolved } = (await partner.post('/v1/qr/resolve', { body: { qr_url: qr.link } }))
      .json;
    expect(resolved).toEqual({
      qrc_id: qr.qrc_id,
      recipient: qr.recipient,
      amount_rub: '150.00',
      currency: 'RUB',
      purpose: qr.purpose,
      payable: true,
    });
    expect(await balance()).toBe(full);
    expect((await partner.pay({ qr_url: qr.link })).json.status).toBe('succeeded');
  });

  /** Right in every way but one: it is not about the code that was asked for. */
  const otherCode = {
    ...{ qrc_id: 'AD10004MV5CJ3D638358RO81129CE63P', scenario: 'C2B', recipient: 'r', recipient_id: 'i' },
    ...{ amount_kopecks: 15_000, purpose: 'p', expires_at: null, fingerprint: 'f' },
  };
  const made = (fields: object) => async () => (await makeQr(simulator, fields)).link as string;
  const faulty = (fault: object) => async () => (await qrWith({ on: 'resolve', ...fault })).link as string;
  test.each([
    ['a code without an amount', made({ amount_kopecks: null }), 400, 'unsupported_variable_amount'],
    [
      'an open sum',
      made({ scenario: 'C2B_OPEN_SUM', amount_kopecks: null }),
      400,
      'unsupported_variable_amount',
    ],
    ['an open sum that names one', made({ scenario: 'C2B_OPEN_SUM' }), 400, 'unsupported_variable_amount'],
    [
      'a cash link without an invoice',
      made({ scenario: 'C2B_CASH_REGISTER', amount_kopecks: null }),
      400,
      'unsupported_variable_amount',
    ],
    ['a subscription', made({ scenario: 'C2B_SUBSCRIPTION' }), 400, 'unsupported_qr'],
    [
      'a subscription with a payment',
      made({ scenario: 'C2B_SUBSCRIPTION_WITH_PAYMENT' }),
      400,
      'unsupported_qr',
    ],
    ['an expired code', made({ expires_in_sec: 0 }), 400, 'invalid_qr'],
    ['a code that nobody knows', async () => newLink(), 400, 'invalid_qr'],
    [
      'a link of somebody else',
      async () => 'https://example.com/AD10004MV5CJ3D638358RO81129CE63P',
      400,
      'invalid_qr',
    ],
    [
      'a link to bind an account',
      async () => 'https://sub.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P',
      400,
      'unsupported_qr',
    ],
    ['details that cannot be had', faulty({ kind: 'unresolvable' }), 422, 'qr_unresolvable'],
    ['a gateway out of service', faulty({ kind: 'unavailable' }), 503, 'gateway_unavailable'],
    ['a gateway that breaks off', faulty({ kind: 'drop_before' }), 503, 'gateway_unavailable'],
    ['a gateway that fails', faulty({ kind: 'http_error', status: 500 }), 422, 'qr_unresolvable'],
    ['broken JSON', faulty({ kind: 'broken_json' }), 422, 'qr_unresolvable'],
    [
      'details of another code',
      faulty({ kind: 'http_error', status: 200, body: otherCode }),
      422,
      'qr_unresolvable',
    ],
  ])('%s cannot', async (_case, make, status, code) => {
    const { partner, balance } = await newCustomer();
    const qr_url = await make();
    const answers = [
      await partner.post('/v1/qr/resolve', { body: { qr_url } }),
      await partner.pay({ qr_url }),
    ];
    for (const answer of answers) expect([answer.status, answer.json.error.code]).toEqual([status, code]);
    expect(await balance()).toBe(full);
    expect((await partner.get('/v1/payments')).json.data).toEqual([]);
  });

  test('when nobody is there, the gateway is unavailable and a test key works on', async () => {
    const { liveKey, testKey } = await createCustomer(pool);
    const { address } = await startApi({ pool, clock });
    const refused = await partnerAt(address, liveKey).pay({ qr_url: newLink(15_000) });
    expect([refused.status, refused.json.error.code]).toEqual([503, 'gateway_unavailable']);
    expect((await partnerAt(address, testKey).pay({ qr_url: newLink(15_000) })).json.status).toBe(
      'succeeded',
    );
  });

  test.each([
    ['a substituted code', { amount_rub: '150.01' }, {}, 400, 'amount_mismatch', 'differs'],
    ['less than the least', {}, { minKopecks: 15_001n }, 400, 'invalid_request', '150.01 RUB'],
    ['more than the most', {}, { maxKopecks: 14_999n }, 400, 'amount_limit_exceeded', '149.99 RUB'],
    ['more than a day allows', {}, { dailyKopecks: 14_999n }, 403, 'daily_limit_exceeded', 'daily limit'],
  ])('%s is refused', async (_case, body, limits, status, code, message) => {
    const customer = await createCustomer(pool);
    await setLimits(auditContextOf(pool), customer.partnerId, limits);
    const { address } = await startApi(common);
    const partner = partnerAt(address, customer.liveKey);
    const qr = await qrWith();
    const refused = await partner.pay({ qr_url: qr.link, ...body });
    expect([refused.status, refused.json.error.code]).toEqual([status, code]);
    expect(refused.json.error.message).toContain(message);
  });

  test('an amount that the gateway gets wrong when it resolves is not paid', async () => {
    const { partner, balance } = await newCustomer();
    const qr = await qrWith({ on: 'resolve', kind: 'wrong_amount' });
    const refused = await partner.pay({ qr_url: qr.link, amount_rub: 150 });
    expect([refused.status, refused.json.error.code]).toEqual([400, 'amount_mismatch']);
    expect((await partner.pay({ qr_url: qr.link })).json).toMatchObject(failed('gateway_declined'));
    expect(await balance()).toBe(full);
  });

  test.each(['name', 'id'])('a recipient blocked by %s gets nothing', async by => {
    const { partner, balance } = await newCustomer();
    const recipient = `Ларёк ${by}`;
    const qr = await makeQr(simulator, { recipient, recipient_id: `MB-${by}` });
    const blocked = by === 'name' ? `  ${recipient.toUpperCase()} ` : `MB-${by}`;
    await blockRecipient(auditContextOf(pool), blocked);
    const key = randomUUID();
    const refused = await partner.pay({ qr_url: qr.link }, key);
    expect([refused.status, refused.json.error.code]).toEqual([403, 'recipient_blocked']);
    expect((await partner.post('/v1/qr/resolve', { body: { qr_url: qr.link } })).json.payable).toBe(false);
    expect(await balance()).toBe(full);
    await unblockRecipient(auditContextOf(pool), blocked);
    expect((await partner.pay({ qr_url: qr.link }, key)).json.status).toBe('succeeded');
  });
});

describe('one at a time', () => {
  const codeOf = ({ status, json }: Answer) => `${status} ${json.error?.code ?? json.status}`;

  test('a code in flight is closed to everybody else in live mode, whatever became of the answer', async () => {
    const [one, other] = [await newCustomer(), await newCustomer()];
    const qr = await qrWith({ on: 'pay', kind: 'finish_later', ms: 60, outcome: 'declined', times: 1 });
    const key = randomUUID();
    expect(codeOf(await one.inHaste.pay({ qr_url: qr.link }, key))).toMatch('200');
    const duplicate = '409 duplicate_qr_in_flight';
    const { link } = qr;
    const elsewhere = link.replace('://qr.', '://web.qr.');
    for (const qr_url of [link, elsewhere, link.split('?')[0]]) {
      expect(codeOf(await other.inHaste.pay({ qr_url }))).toBe(duplicate);
      expect(codeOf(await one.inHaste.pay({ qr_url }))).toBe(duplicate);
    }
    // The same key is a repeat and never a duplicate; test mode is another world.
    expect((await one.inHaste.pay({ qr_url: elsewhere }, key)).status).not.toBe(409);
    const tester = partnerAt(hasty.address, other.testKey);
    expect(codeOf(await tester.pay({ qr_url: link }))).toBe('200 succeeded');
    await untilBank(qr.qrc_id, 'open');
    await recoverAfter(2_000);
    expect(codeOf(await other.partner.pay({ qr_url: link }))).toBe('200 succeeded');
    expect([await one.balance(), await other.balance()]).toEqual([full, less]);
  });

  test('a payment under review keeps its code but not its slot', async () => {
    const { partnerId, inHaste } = await newCustomer();
    await setLimits(auditContextOf(pool), partnerId, { concurrent: 1 });
    const lost = await qrWith({ on: 'pay', kind: 'drop_before', times: 1 });
    const later = await qrWith({ on: 'pay', kind: 'finish_later', ms: 60, outcome: 'succeeded' });
    expect((await inHaste.pay({ qr_url: lost.link })).json).toMatchObject(underReview);
    expect(codeOf(await inHaste.pay({ qr_url: lost.link }))).toBe('409 duplicate_qr_in_flight');
    expect((await inHaste.pay({ qr_url: later.link })).status).toBe(200);
    const third = await qrWith();
    // The order of checks: the code first, then the slots.
    expect(codeOf(await inHaste.pay({ qr_url: later.link }))).toBe('409 duplicate_qr_in_flight');
    expect(codeOf(await inHaste.pay({ qr_url: third.link }))).toBe('503 gateway_busy');
    await untilBank(later.qrc_id, 'paid');
    await recoverAfter(2_000);
    expect(codeOf(await inHaste.pay({ qr_url: third.link }))).toBe('200 succeeded');
  });

  test('a code is not lost to a neighbour in the same statement who cannot pay', async () => {
    const poor = await createFundedPartner(pool, 0n);
    const lane = (id: string) => id.charCodeAt(id.length - 1) % 2;
    let rich = await createFundedPartner(pool, 1_000_000_000n);
    while (lane(rich) !== lane(poor)) rich = await createFundedPartner(pool, 1_000_000_000n);
    const writer = createPaymentWriter(pool, clock);
    const { rows } = await pool.query('SELECT max(id) AS id FROM rates');
    const opening = (partnerId: typeof rich, qrcId: string) => ({
      ...{ partnerId, mode: 'live' as const, paymentId: newPaymentId(), idempotencyKey: randomUUID() },
      ...{ requestHash: Buffer.alloc(32), externalId: null, qrcId, qrUrl: qrcId, fingerprint: 'f' },
      ...{ recipient: 'r', amountKopecks: 15_000n, microUsdt: 1_621_622n, rateE4: 925_000n, metadata: '{}' },
      ...{
        rateId: rows[0].id,
        rateStaleAt: new Date(clock.nowMs() + 1),
        nextAt: new Date(clock.nowMs() + 1),
        leaseHolder: null,
      },
    });
    const qrcId = randomUUID();
    const openings = [opening(rich, randomUUID()), opening(poor, qrcId), opening(rich, qrcId)];
    const verdicts = await Promise.all(openings.map(writer.open));
    for (const { paymentId } of openings)
      await writer.finish({
        partnerId: rich,
        mode: 'live',
        paymentId,
        outcome: 'rejected',
        code: 'gateway_busy',
      });
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['opened', 'insufficient_balance', 'opened']);
  });
});

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
    ['before the gateway heard of it', () => never, 'failed', 'not_executed'],
    [
      'after the gateway had paid',
      (order: Parameters<Gateway['pay']>[0]) => deps.gateway.pay(order).then(() => never),
      'succeeded',
      null,
    ],
  ])('a process that dies %s leaves a row that says what to do', async (_case, pay, status, code) => {
    const { partnerId } = await newCustomer();
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
    'a process that dies in test mode over %i kopecks: the outcome is the promised one',
    async (kopecks, status, code) => {
      const { partnerId } = await newCustomer();
      const link = newLink(kopecks);
      const dying = { ...deps, writer: { ...deps.writer, finish: () => never } };
      void createPayment(dying, await callerOf(partnerId, 'test'), requestFor(link));
      const qrcId = new URL(link).pathname.slice(1);
      await untilRow(qrcId);
      await recoverAfter(60_000);
      expect(await rowsOf(qrcId)).toMatchObject([{ status, error_code: code }]);
    },
  );

  test('a repeat that meets its first just as that is refused hears the refusal', async () => {
    const { partnerId } = await newCustomer();
    const caller = await callerOf(partnerId, 'live');
    const qr = await qrWith(
      { on: 'pay', kind: 'delay', ms: 200, times: 1 },
      { on: 'pay', kind: 'busy', times: 1 },
    );
    const request = requestFor(qr.link);
    const first = createPayment(deps, caller, request);
    await untilRow(qr.qrc_id);
    // It looked for its key before the first was there, and looks at the first when that is over.
    const db: Queryable = {
      query: async statement => {
        if (statement.name === 'find payment by key') return { rows: [] } as never;
        if (statement.name === 'find payment') await first;
        return pool.query(statement);
      },
    };
    const repeat = await createPayment({ ...deps, db }, caller, request);
    expect(repeat).toEqual({ outcome: 'refused', code: 'gateway_busy' });
    expect(await first).toEqual({ outcome: 'refused', code: 'gateway_busy' });
  });

  test('a refusal that comes after the payment was voided does not unbind its key', async () => {
    const { partner, balance } = await newCustomer();
    const qr = await qrWith(
      { on: 'pay', kind: 'delay', ms: 400, times: 1 },
      { on: 'pay', kind: 'busy', times: 1 },
    );
    const key = randomUUID();
    const paying = partner.pay({ qr_url: qr.link }, key);
    await untilRow(qr.qrc_id);
    await recoverAfter(60_000);
    const answer = await paying;
    expect(answer).toMatchObject({ status: 200, json: failed('not_executed') });
    expect((await partner.pay({ qr_url: qr.link }, key)).text).toBe(answer.text);
    expect(await balance()).toBe(full);
  });

  test('a gateway that contradicts itself changes nothing that is terminal and raises an alarm', async () => {
    const { partnerId } = await newCustomer();
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

  test('a rate that goes stale between reading and debiting closes the payment and debits nothing', async () => {
    const { partnerId, balance } = await newCustomer();
    const qr = await qrWith();
    const resolve: Gateway['resolve'] = async qrUrl => {
      clock.advance(300_001);
      return deps.gateway.resolve(qrUrl);
    };
    const slow = { ...deps, gateway: { ...deps.gateway, resolve } };
    const creation = await createPayment(slow, await callerOf(partnerId, 'live'), requestFor(qr.link));
    expect(creation).toEqual({ outcome: 'refused', code: 'rate_unavailable' });
    expect([await balance(), await rowsOf(qr.qrc_id)]).toEqual([full, []]);
  });

  test('two who recover at once finish a payment once', async () => {
    const { inHaste, balance } = await newCustomer();
    const qrs = await Promise.all(
      Array.from({ length: 8 }, () => qrWith({ on: 'pay', kind: 'answer_lost', times: 1 })),
    );
    await Promise.all(qrs.map(qr => inHaste.pay({ qr_url: qr.link })));
    clock.advance(2_000);
    const polled = vi.spyOn(deps.gateway, 'poll');
    await Promise.all([1, 2, 3, 4].map(() => recoverDuePayments(deps)));
    const ids = polled.mock.calls.map(([{ paymentId }]) => paymentId);
    polled.mockRestore();
    expect(ids).toHaveLength(new Set(ids).size);
    const { data } = (await inHaste.get('/v1/payments?status=succeeded')).json;
    expect([data.length, await balance()]).toEqual([8, '987.027024']);
  });

  test('a payment that recovery stumbles over does not hold up the others', async () => {
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
    await vi.waitFor(async () =>
      expect(await rowsOf(qrs[1]!.qrc_id)).toMatchObject([{ status: 'succeeded' }]),
    );
    await recoverAfter(30_000);
    expect(await rowsOf(qrs[0]!.qrc_id)).toMatchObject([{ status: 'succeeded' }]);
  });
});
