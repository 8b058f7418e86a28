import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { test as base, describe, expect, vi } from 'vitest';
import { partnerAt, startApi } from '../helpers/api.ts';
import { startLocalServer } from '../helpers/local-server.ts';
import { failed, full, less, startLiveWorld, underReview } from './live-world.ts';

const world = await startLiveWorld();
const { clock, simulator, common, hasty, deps, rowsOf, orderOf } = world;
const { newCustomer, qrWith, holdOrders, untilRow, untilBank, recoverAfter } = world;
/** For tests of orders that get no answer: they wait this long. */
const inVain = { answerWithinMs: 0, payTimeoutMs: 800 };
const impatient = await startApi({ ...common, ...inVain });
const test = base.extend('customer', () => newCustomer());

describe('the gateway answers at once:', () => {
  test('succeeded', async ({ customer: { partner, balance } }) => {
    const qr = await qrWith();
    const key = randomUUID();
    const body = { qr_url: qr.link, amount_rub: 150, external_id: 'o-1', metadata: { n: 1 } };
    const paid = await partner.pay(body, key);
    expect(paid.status).toBe(200);
    expect(paid.json).toMatchObject({
      ...{ mode: 'live', status: 'succeeded', status_detail: null, error: null, external_id: 'o-1' },
      ...{ recipient: qr.recipient, amount_rub: '150.00', amount_usdt: '1.621622', rate: '92.5000' },
      ...{ settled_at: expect.any(String), metadata: { n: 1 } },
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
    ['QR_ALREADY_PAID', 'qr_already_paid'],
    ['ACCOUNT_BLOCKED', 'recipient_unavailable'],
    ['LIMIT_EXCEEDED', 'limit_exceeded'],
    ['SUSPECTED_FRAUD', 'suspected_fraud'],
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

  test('a bank side that does not know references pays all the same', async ({ customer: { partner } }) => {
    const qr = await qrWith({ on: 'pay', kind: 'without_reference' });
    const { json } = await partner.pay({ qr_url: qr.link });
    await untilBank(qr.qrc_id, 'paid');
    expect(json.status).toBe('succeeded');
    expect(await rowsOf(qr.qrc_id)).toMatchObject([{ status: 'succeeded' }]);
    const { orders } = await deps.gateway.listOrders(new Date(0));
    expect(orders).toContainEqual(expect.objectContaining({ paymentId: json.id, reference: null }));
  });
});

describe('the gateway accepts and finishes later:', () => {
  test.each([
    ['succeeded', {}, { status: 'succeeded', status_detail: null }, less],
    ['declined', { reason: 'LIMIT_EXCEEDED' }, failed('limit_exceeded'), full],
  ])('%s, and all joined requests get it', async (outcome, more, expected, balanceAfter) => {
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

  test('it is polled after 2, 5, 10, 30 and then every 60 seconds', async ({ customer: { inHaste } }) => {
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

  test('a request waits for its time budget and not longer', async ({ customer: { partner } }) => {
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
  /** A service that hangs up before its order is at the bank, where it arrives when the test says so. */
  async function startLateService() {
    const line = await startLocalServer();
    const order = Promise.withResolvers<[path: string, body: string]>();
    line.answer(async (request, response) => {
      const [path, body] = [request.url!, await text(request)];
      if (request.method === 'PUT') return order.resolve([path, body]);
      const answer = await simulator.call(request.method!, path, body);
      response.writeHead(answer.status).end(JSON.stringify(answer.body));
    });
    const { address } = await startApi({ ...common, ...inVain, gatewayUrl: line.url });
    return { address, arrive: async () => simulator.call('PUT', ...(await order.promise)) };
  }
  const paidLater = { status: 'succeeded', status_detail: null, error: null };
  const notExecuted = failed('not_executed');
  const refused = [{ kind: 'decline' }, { kind: 'answer_lost', times: 1 }];
  const foreign = { kind: 'http_error', status: 409, body: { code: 'ODD' }, times: 1 };
  test.each([
    ['the answer is lost', [{ kind: 'answer_lost', times: 1 }], paidLater, less],
    ['the answer is lost and was a refusal', refused, failed('gateway_declined'), full],
    ['broken JSON', [{ kind: 'broken_json', times: 1 }], paidLater, less],
    ['headers and then nothing', [{ kind: 'stall', times: 1 }], paidLater, less],
    ['the connection breaks before', [{ kind: 'drop_before', times: 1 }], notExecuted, full],
    ['502 without a body', [{ kind: 'http_error', status: 502, times: 1 }], notExecuted, full],
    ['409 with a foreign code', [foreign], notExecuted, full],
    ['later than we wait', [{ kind: 'delay', ms: 30_000, times: 1 }], notExecuted, full],
  ])('%s', async (_case, faults, expected, balanceAfter) => {
    const { liveKey, balance } = await newCustomer();
    const waitsInVain = faults.some(({ kind }) => kind === 'stall' || kind === 'delay');
    const inHaste = partnerAt((waitsInVain ? impatient : hasty).address, liveKey);
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

  test.each([
    ['"declined" for PAYER_BANK_TIMEOUT', { kind: 'decline', reason: 'PAYER_BANK_TIMEOUT' }],
    ['"declined" for GATEWAY_TIMEOUT', { kind: 'decline', reason: 'GATEWAY_TIMEOUT' }],
    ['an unexpected response', { kind: 'decline', reason: 'UNEXPECTED_GATEWAY_RESPONSE' }],
    ['an unknown error', { kind: 'decline', reason: 'UNKNOWN_ERROR' }],
    ['an order over another amount', { kind: 'wrong_amount' }],
  ])('%s proves nothing, however often it is repeated', async (_case, fault) => {
    const { inHaste, balance } = await newCustomer();
    const qr = await qrWith({ on: 'pay', ...fault });
    const { json } = await inHaste.pay({ qr_url: qr.link });
    expect(json).toMatchObject(underReview);
    await recoverAfter(2_000);
    await recoverAfter(5_000);
    expect((await inHaste.get(`/v1/payments/${json.id}`)).json).toMatchObject(underReview);
    expect(await balance()).toBe(less);
  });

  test('a request that waits gets the outcome that recovery finds', async ({ customer: { partner } }) => {
    const qr = await qrWith({ on: 'pay', kind: 'answer_lost', times: 1 });
    const paying = partner.pay({ qr_url: qr.link });
    await untilRow(qr.qrc_id, row => row.status_detail === 'manual_review');
    await recoverAfter(2_000);
    expect((await paying).json).toMatchObject(paidLater);
  });

  test('polling and voiding may fail too: nothing ends before the gateway confirms it', async () => {
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

  test('a late order meets the void: it is refused permanently and nothing is paid', async () => {
    const { partner, liveKey, balance } = await newCustomer();
    const qr = await qrWith();
    const { address, arrive } = await startLateService();
    const { id } = (await partnerAt(address, liveKey).pay({ qr_url: qr.link })).json;
    await recoverAfter(2_000);
    expect((await partner.get(`/v1/payments/${id}`)).json).toMatchObject(failed('not_executed'));
    for (const late of [await arrive(), await qr.pay(id)])
      expect([late.status, late.body.code]).toEqual([409, 'VOIDED']);
    expect(await orderOf(id)).toMatchObject({ code: 'ORDER_UNKNOWN' });
    expect(await balance()).toBe(full);
    expect((await partner.pay({ qr_url: qr.link })).json.status).toBe('succeeded');
  });

  test('an order that is on its way when recovery voids it: its request is answered that nothing was paid', async () => {
    const { partner, balance } = await newCustomer();
    const qr = await qrWith();
    const { sent, release } = holdOrders();
    const paying = partner.pay({ qr_url: qr.link });
    await sent;
    await recoverAfter(60_000);
    release();
    expect(await paying).toMatchObject({ status: 200, json: failed('not_executed') });
    expect(await balance()).toBe(full);
  });
});
