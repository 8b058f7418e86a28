import { describe, expect, test } from 'vitest';
import { codeOf, expectMalformed, newLink, setRate, startApi } from '../helpers/api.ts';
import { createDatabase, createTimedDatabase } from '../helpers/database.ts';
import { words } from '../helpers/words.ts';

const { pool, clock } = await createTimedDatabase();
await setRate(pool, clock);
const { newPartner } = await startApi({ pool, clock });
const partner = await newPartner(1_234_567n);
const { partnerId, live } = partner;
const requestId = expect.stringMatching(/^req_[0-7][0-9a-z]{25}$/);
const asOf = Date.parse('2026-11-15T10:00:00Z') / 1_000;

describe('ping', () => {
  test('says whose key it is, its mode and the version', async () => {
    for (const [each, mode] of [
      [partner, 'test'],
      [live, 'live'],
    ] as const) {
      const { json } = await each.get('/v1/ping');
      const expected = { ok: true, partner_id: partnerId, mode, api_version: '2026-11-14' };
      expect(json).toEqual({ ...expected, request_id: requestId });
    }
  });
});

describe('balance', () => {
  test('of test mode begins with 10 000 USDT', async () => {
    const { json } = await (await newPartner()).get('/v1/balance');
    expect(json).toEqual({ balance_usdt: '10000.000000', currency: 'USDT', request_id: requestId });
  });

  test('of one mode does not move with the other', async () => {
    await partner.pay({ qr_url: newLink(10_000) });
    expect((await partner.get('/v1/balance')).json.balance_usdt).toBe('9998.918918');
    expect((await live.get('/v1/balance')).json.balance_usdt).toBe('1.234567');
  });
});

describe('quote', () => {
  const quote = (raw: string) => partner.post('/v1/quote', { raw: `{"amount_rub":${raw}}` });

  test('has all the fields of contract and decisions', async () => {
    expect((await quote('"100"')).json).toEqual({
      ...{
        amount_rub: '100.00',
        amount_usdt: '1.081082',
        rate: '92.5000',
        pair: 'USDT/RUB',
        fee_rub: '0.00',
      },
      ...{ as_of: asOf, max_age_sec: 300, stale: false, request_id: requestId },
    });
  });

  test.each([
    ['"100"', '100.00'],
    ['100', '100.00'],
    ['100.5', '100.50'],
    ['"0.01"', '0.01'],
    ['0.29', '0.29'],
    ['999999999.99', '999999999.99'],
    ['"\\u0031\\u0030"', '10.00'],
  ])('takes %s for %s rubles', async (raw, rubles) => {
    expect((await quote(raw)).json.amount_rub).toBe(rubles);
  });

  test.each([
    ['0.01', '0.000109'],
    ['92.50', '1.000000'],
    ['999999999.99', '10810810.810703'],
  ])('%s rubles cost %s USDT, rounded up', async (rubles, usdt) => {
    expect((await quote(`"${rubles}"`)).json.amount_usdt).toBe(usdt);
  });

  test.each([
    ...words('"1e2" 1e2 "1,5" -100 0 "0.00" 100.000 "100.000" "١٠٠" null true ["100"] {"valueOf":1}'),
    ...['" 100"', `1${'0'.repeat(400)}`, '"100\\u0000"', '"\\ud800"'],
  ])('of %s is malformed, at the amount', async raw => {
    expectMalformed(await quote(raw), 'body', 'amount_rub');
  });
});

// Advances the clock, so it runs after the tests that need a fresh rate.
describe('rate', () => {
  test('has all the fields of the contract', async () => {
    expect((await partner.get('/v1/rate')).json).toEqual({
      ...{ pair: 'USDT/RUB', rate: '92.5000', as_of: asOf, max_age_sec: 300, stale: false },
      request_id: requestId,
    });
  });

  test('is fresh for 300 seconds and stale after, and then quoted with a flag', async () => {
    clock.advance(300_000);
    expect((await partner.get('/v1/rate')).json.stale).toBe(false);
    clock.advance(1);
    expect((await partner.get('/v1/rate')).json).toMatchObject({ stale: true, as_of: asOf, rate: '92.5000' });
    const quoted = await partner.post('/v1/quote', { body: { amount_rub: 100 } });
    expect(quoted).toMatchObject({
      status: 200,
      json: { stale: true, as_of: asOf, amount_usdt: '1.081082' },
    });
  });

  test('changes when it is refreshed', async () => {
    await setRate(pool, clock, '93.1234');
    const now = Math.floor(clock.nowMs() / 1_000);
    expect((await partner.get('/v1/rate')).json).toMatchObject({ rate: '93.1234', stale: false, as_of: now });
    expect((await partner.post('/v1/quote', { body: { amount_rub: 100 } })).json).toMatchObject({
      rate: '93.1234',
      amount_usdt: '1.073844',
    });
  });

  test('that is not known yet is unavailable, and closes quotes and payments', async () => {
    const { pool: empty } = await createDatabase();
    const api = await startApi({ pool: empty, clock });
    const early = await api.newPartner();
    const answers = [
      await early.get('/v1/rate'),
      await early.post('/v1/quote', { body: { amount_rub: 100 } }),
      await early.pay({ qr_url: newLink(10_000) }),
    ];
    for (const answer of answers) expect(codeOf(answer)).toBe('503 rate_unavailable');
    expect((await early.post('/v1/quote', { body: { amount_rub: 0 } })).status).toBe(422);
    expect((await early.get('/v1/payments')).json.data).toEqual([]);
    expect((await early.get('/v1/balance')).json.balance_usdt).toBe('10000.000000');
  });
});
