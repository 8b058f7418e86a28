import { randomUUID } from 'node:crypto';
import { test as base, beforeEach, describe, expect } from 'vitest';
import { setMaintenance } from '../../src/controls/index.ts';
import { allRights } from '../../src/partners/index.ts';
import {
  codeOf,
  createPartnerWithKeys,
  issueKey,
  newLink,
  partnerAt,
  setRate,
  startApi,
} from '../helpers/api.ts';
import { auditContextOf, createTimedDatabase } from '../helpers/database.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';

const { pool, clock } = await createTimedDatabase();
const simulator = await openSimulator();
const limits = { maxMicroUsdtOfPartner: 20_000_000n };
const { address } = await startApi({ pool, clock, gatewayUrl: simulator.address, quoteLock: limits });
const audit = auditContextOf(pool);
beforeEach(() => setRate(pool, clock));

async function newPartner() {
  const customer = await createPartnerWithKeys(pool);
  return {
    ...customer,
    live: partnerAt(address, customer.liveKey),
    test: partnerAt(address, customer.testKey),
  };
}
type Partner = ReturnType<typeof partnerAt>;
const lockAt = (partner: Partner, amount_rub = '150.00') =>
  partner.post('/v1/quote', { body: { amount_rub, lock: true } });
const lock = async (partner: Partner, amount?: string) =>
  (await lockAt(partner, amount)).json.quote_id as string;
const test = base.extend('partner', () => newPartner());

describe('POST /v1/quote with lock', () => {
  test('gives a lower rate with an id and an end', async ({ partner: { test: partner } }) => {
    const { json } = await lockAt(partner);
    expect(json).toMatchObject({
      ...{ amount_rub: '150.00', rate: '92.0375', amount_usdt: '1.629771', pair: 'USDT/RUB', stale: false },
      expires_at: new Date(clock.nowMs() + 60_000).toISOString().replace('Z', '000+00:00'),
    });
    expect(json.quote_id).toMatch(/^qte_[0-7][0-9a-z]{25}$/);
  });

  test.each([undefined, null, false])('is the quote of the contract with lock: %s', async value => {
    const { test: partner } = await newPartner();
    const plain = await partner.post('/v1/quote', { body: { amount_rub: '150.00', lock: value } });
    expect(plain.json).toMatchObject({ rate: '92.5000', amount_usdt: '1.621622' });
    expect(plain.json).not.toHaveProperty('quote_id');
    expect(plain.json).not.toHaveProperty('expires_at');
  });

  test('refuses what could not be paid', async ({ partner: { test: partner } }) => {
    expect(codeOf(await lockAt(partner, '9.99'))).toBe('400 invalid_request');
    expect(codeOf(await lockAt(partner, '100000.01'))).toBe('400 amount_limit_exceeded');
    await setMaintenance(audit, true);
    expect(codeOf(await lockAt(partner))).toBe('503 maintenance');
    await setMaintenance(audit, false);
    clock.advance(301_000);
    expect(codeOf(await lockAt(partner))).toBe('503 rate_unavailable');
  });

  test('refuses more than a partner may lock, and a quote without lock is given', async () => {
    const { test: partner } = await newPartner();
    expect(codeOf(await lockAt(partner, '1500.00'))).toBe('200 ok');
    const refused = await lockAt(partner, '1500.00');
    expect(codeOf(refused)).toBe('403 quote_limit_exceeded');
    expect(refused.json.error).toMatchObject({ retryable: false, same_key: true });
    expect(codeOf(await partner.post('/v1/quote', { body: { amount_rub: '1500.00' } }))).toBe('200 ok');
    clock.advance(60_000);
    expect(codeOf(await lockAt(partner, '1500.00'))).toBe('200 ok');
  });

  test('needs a key that may pay', async ({ partner: { partnerId } }) => {
    const rights = { ...allRights, scopes: ['read' as const] };
    const reader = partnerAt(address, await issueKey(pool, partnerId, 'test', [], { rights }));
    expect(codeOf(await lockAt(reader))).toBe('403 insufficient_scope');
    expect(codeOf(await reader.post('/v1/quote', { body: { amount_rub: '150.00' } }))).toBe('200 ok');
  });
});

describe('POST /v1/payments with quote_id', () => {
  test('has the locked rate though the current one has changed, live and in test mode', async () => {
    const { live, test: inTest } = await newPartner();
    for (const partner of [live, inTest]) {
      await setRate(pool, clock);
      const quote_id = await lock(partner);
      await setRate(pool, clock, '80.00');
      const { link } = await makeQr(simulator);
      const qr_url = partner === live ? link : newLink(15_000);
      const paid = await partner.pay({ qr_url, quote_id });
      expect(paid.json).toMatchObject({ status: 'succeeded', rate: '92.0375', amount_usdt: '1.629771' });
      expect(paid.json).not.toHaveProperty('quote_id');
      const plain = await partner.pay({ qr_url: newLink(15_000) });
      if (partner === inTest) expect(plain.json).toMatchObject({ rate: '80.0000', amount_usdt: '1.875000' });
    }
  });

  test('is accepted while the rate is stale, until the quote expires', async () => {
    const { test: partner } = await newPartner();
    clock.advance(270_000);
    const [first, second] = [await lock(partner), await lock(partner)];
    clock.advance(31_000);
    expect(codeOf(await partner.pay({ qr_url: newLink(15_000) }))).toBe('503 rate_unavailable');
    const metadata = { kopeck_scenario: 'rate_stale' };
    expect(codeOf(await partner.pay({ qr_url: newLink(15_000), quote_id: first, metadata }))).toBe(
      '200 succeeded',
    );
    clock.advance(29_000);
    const late = await partner.pay({ qr_url: newLink(15_000), quote_id: second });
    expect(codeOf(late)).toBe('409 quote_expired');
    expect(late.json.error).toMatchObject({ retryable: false, same_key: true });
  });

  test('says which quote it cannot have', async ({ partner: { live, test: partner } }) => {
    const { test: other } = await newPartner();
    const pay = async (quote_id: unknown, kopecks = 15_000) =>
      codeOf(await partner.pay({ qr_url: newLink(kopecks), quote_id }));
    expect(await pay('qte_01m7fabamwe0099a62t2sndsmw')).toBe('404 quote_not_found');
    expect(await pay('no id')).toBe('404 quote_not_found');
    expect(await pay(await lock(other))).toBe('404 quote_not_found');
    expect(await pay(await lock(live))).toBe('409 quote_mode_mismatch');
    const quote = await lock(partner);
    expect(await pay(quote, 15_100)).toBe('409 quote_amount_mismatch');
    expect(await pay(quote)).toBe('200 succeeded');
    expect(await pay(quote)).toBe('409 quote_used');
    expect(await pay(null)).toBe('200 succeeded');
  });

  test.for([
    ['lock', 'yes'],
    ['lock', 1],
    ['quote_id', 7],
    ['quote_id', 'q'.repeat(65)],
  ])('refuses %s of the shape %j', async ([field, value], { partner: { test: partner } }) => {
    const { status, json } =
      field === 'lock'
        ? await partner.post('/v1/quote', { body: { amount_rub: '150.00', lock: value } })
        : await partner.pay({ qr_url: newLink(15_000), quote_id: value });
    expect([status, json.detail[0].loc]).toEqual([422, ['body', field]]);
  });
});

describe('the idempotency key', () => {
  test('answers a repeat with the payment though the quote is used and has expired', async () => {
    const { test: partner } = await newPartner();
    const [body, key] = [{ qr_url: newLink(15_000), quote_id: await lock(partner) }, randomUUID()];
    const first = await partner.pay(body, key);
    clock.advance(120_000);
    const repeated = await partner.pay(body, key);
    expect(repeated.json).toEqual(first.json);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
  });

  test('conflicts with another quote, with none, and with one that was not there before', async () => {
    const { test: partner } = await newPartner();
    const [body, key] = [{ qr_url: newLink(15_000) }, randomUUID()];
    const [one, other] = [await lock(partner), await lock(partner)];
    expect(codeOf(await partner.pay({ ...body, quote_id: one }, key))).toBe('200 succeeded');
    expect(codeOf(await partner.pay({ ...body, quote_id: other }, key))).toBe('409 idempotency_conflict');
    expect(codeOf(await partner.pay(body, key))).toBe('409 idempotency_conflict');
    const plain = { qr_url: newLink(15_000) };
    const plainKey = randomUUID();
    await partner.pay(plain, plainKey);
    expect(codeOf(await partner.pay({ ...plain, quote_id: other }, plainKey))).toBe(
      '409 idempotency_conflict',
    );
    expect(codeOf(await partner.pay({ ...plain, quote_id: null }, plainKey))).toBe('200 succeeded');
    // The other quote is still unused.
    expect(codeOf(await partner.pay({ qr_url: newLink(15_000), quote_id: other }))).toBe('200 succeeded');
  });
});
