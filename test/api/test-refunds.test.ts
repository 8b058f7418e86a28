import { afterAll, describe, expect, test } from 'vitest';
import { topUp, verifyLedger } from '../../src/ledger/index.ts';
import { refundRound } from '../../src/payments/refunds/read-refunds.ts';
import { addEndpoint, createVault } from '../../src/webhooks/index.ts';
import { codeOf, expectMalformed, keyring, newLink, setRate, startApi } from '../helpers/api.ts';
import { endOfTime } from '../helpers/clock.ts';
import { createTimedDatabase } from '../helpers/database.ts';

const { pool, clock, audit, sql } = await createTimedDatabase('2031-05-05T10:00:00.000Z');
await setRate(pool, clock);
const api = await startApi({ pool, clock });
afterAll(async () => {
  expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
});

async function newPartner() {
  const partner = await api.newPartner();
  return {
    ...partner,
    pay: async (kopecks = 30_510) => (await partner.pay({ qr_url: newLink(kopecks) })).json,
    refund: (payment_id: string, reference: string, amount_rub?: unknown) =>
      partner.post('/v1/test/refunds', { body: { payment_id, reference, amount_rub } }),
    balance: async () => (await partner.get('/v1/balance')).json.balance_usdt,
  };
}

test('a refund comes back at the rate of the payment: payment, balance, statement', async () => {
  const { pay, refund, get, balance } = await newPartner();
  const before = await balance();
  const { id } = await pay();
  const part = await refund(id, 'part', '100');
  expect([part.status, part.json]).toEqual([
    200,
    {
      ...{ object: 'test_refund', payment_id: id, reference: 'part' },
      ...{ amount_rub: '100.00', amount_usdt: '1.081081' },
      ...{ refunded_rub: '100.00', refunded_usdt: '1.081081' },
      request_id: expect.stringMatching(/^req_/),
    },
  ]);
  const rest = await refund(id, 'rest');
  expect(rest.json).toMatchObject({
    amount_rub: '205.10',
    refunded_rub: '305.10',
    refunded_usdt: '3.298379',
  });
  expect(await balance()).toBe(before);
  expect((await get(`/v1/payments/${id}`)).json).toMatchObject({
    ...{ status: 'succeeded', refunded_rub: '305.10', refunded_usdt: '3.298379' },
  });
  const { entries } = (await get('/v1/statement?day=2031-05-05')).json;
  expect(entries.slice(-2)).toMatchObject([
    { kind: 'refund', amount_usdt: '1.081081', payment_id: id },
    { kind: 'refund', amount_usdt: '2.217298', payment_id: id },
  ]);
});

test('the event is listed, and goes to endpoints of test mode that ask for it', async () => {
  const { pay, refund, get, partnerId } = await newPartner();
  const add = (mode: 'live' | 'test', events: ('payment.refunded' | 'payment.failed')[]) =>
    addEndpoint(audit, createVault(keyring), partnerId, { mode, url: 'https://shop.example/hook', events });
  await add('live', ['payment.refunded']);
  await add('test', ['payment.failed']);
  await add('test', ['payment.refunded']);
  const { id } = await pay();
  await refund(id, 'r', '10');
  const { data } = (await get('/v1/events?extra_events=payment.refunded')).json;
  expect(data.at(-1)).toMatchObject({ event: 'payment.refunded', data: { id, refunded_rub: '10.00' } });
  const waiting = await sql`
    SELECT w.mode, w.events FROM deliveries d JOIN endpoints w USING (endpoint_id)
     WHERE d.event_id = ${data.at(-1).id.slice('evt_'.length)}`;
  expect(waiting).toEqual([{ mode: 'test', events: ['payment.refunded'] }]);
});

test('a reference is refunded once, however often and at once it is sent', async () => {
  const { pay, refund, get } = await newPartner();
  const [one, other] = [await pay(), await pay()];
  const answers = await Promise.all([1, 2, 3].map(() => refund(one.id, 'same', '10')));
  answers.push(await refund(one.id, 'same'));
  expect(answers.map(({ json }) => json.refunded_rub)).toEqual(['10.00', '10.00', '10.00', '10.00']);
  expect((await get(`/v1/payments/${one.id}`)).json.refunded_rub).toBe('10.00');
  expect(codeOf(await refund(one.id, 'same', '11'))).toBe('409 idempotency_conflict');
  expect(codeOf(await refund(other.id, 'same', '10'))).toBe('409 idempotency_conflict');
  const another = await newPartner();
  const theirs = await another.pay();
  expect((await another.refund(theirs.id, 'same', '10')).status).toBe(200);
});

describe('what is refused', () => {
  test('a reference that the ledger has for a top-up', async () => {
    const { pay, refund, partnerId } = await newPartner();
    const { id } = await pay();
    const reference = `refund:test:${partnerId}:x`;
    await topUp(audit, { partnerId, mode: 'test', reference, microUsdt: 1n });
    expect(codeOf(await refund(id, 'x'))).toBe('409 idempotency_conflict');
  });

  test('more than is left of the payment', async () => {
    const { pay, refund } = await newPartner();
    const { id } = await pay(10_000);
    expect(codeOf(await refund(id, 'a', '100.01'))).toBe('400 invalid_request');
    await refund(id, 'b', '99.99');
    expect(codeOf(await refund(id, 'c', '0.02'))).toBe('400 invalid_request');
    expect((await refund(id, 'd')).json).toMatchObject({ amount_rub: '0.01', refunded_rub: '100.00' });
    expect(codeOf(await refund(id, 'e'))).toBe('400 invalid_request');
  });

  test('a payment that did not succeed, or is not there', async () => {
    const { pay, refund } = await newPartner();
    for (const kopecks of [10_001, 10_002])
      expect(codeOf(await refund((await pay(kopecks)).id, 'a'))).toBe('400 invalid_request');
    const foreign = await (await newPartner()).pay();
    for (const id of [foreign.id, 'pay_01m7ehqr39e00aq7xw60wbe32j', 'order-1'])
      expect(codeOf(await refund(id, 'a'))).toBe('404 not_found');
  });

  test.each(['0', '0.00', '-1', '0.001', 'ten'])('the amount %j', async amount => {
    const { pay, refund } = await newPartner();
    expect(codeOf(await refund((await pay()).id, 'a', amount))).toBe('400 invalid_request');
  });

  test('a reference that is none, and an amount that is no text', async () => {
    const { refund } = await newPartner();
    for (const reference of ['', 'a b', 'r'.repeat(65)])
      expectMalformed(await refund('pay_1', reference), 'body', 'reference');
    expectMalformed(await refund('pay_1', 'r', 10), 'body', 'amount_rub');
  });

  test('a live key', async () => {
    const { live } = await newPartner();
    const body = { payment_id: 'pay_1', reference: 'r' };
    expect(codeOf(await live.post('/v1/test/refunds', { body }))).toBe('403 test_key_required');
  });

  test('more than a hundred a day; a repeat is still answered', async () => {
    const { pay, refund } = await newPartner();
    const { id } = await pay();
    for (let nth = 1; nth <= 100; nth++) await refund(id, `r${nth}`, '0.01');
    expect(codeOf(await refund(id, 'r101', '0.01'))).toBe('403 daily_limit_exceeded');
    expect((await refund(id, 'r1', '0.01')).status).toBe(200);
    await clock.advance(86_400_000);
    expect((await refund(id, 'r101', '0.01')).status).toBe(200);
  });
});

test('the list of the payment gateway does not miss them', async () => {
  const { pay, refund } = await newPartner();
  await refund((await pay()).id, 'listed');
  await clock.advance(20 * 60_000);
  const gateway = { listRefunds: async () => ({ refunds: [], nextCursor: null }) };
  const log = { info: () => {}, error: () => {} };
  await pool.query('UPDATE service SET refunds_from = $1', [new Date('2031-05-05T00:00:00Z')]);
  expect(await refundRound({ ...api.deps, pool, db: pool, gateway, log })).toBe('read');
  expect(await sql`SELECT kind FROM alarms WHERE kind LIKE 'refund%'`).toEqual([]);
});
