import { test as base, describe, expect } from 'vitest';
import { readBalances } from '../../src/ledger/index.ts';
import { codeOf, expectMalformed, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { startTestModeWorld, untouched } from './test-mode-world.ts';

const { pool, clock, deps, newPartner, balanceOf, expectNothingHappened } = await startTestModeWorld();
const test = base.extend('partner', () => newPartner());

describe('the kopecks of the amount', () => {
  test.for([0, 4, 99])(',%i: succeed', async (kopecks, { partner }) => {
    const { status, json } = await partner.pay({ qr_url: newLink(10_000 + kopecks) });
    const now = `${new Date(clock.nowMs()).toISOString().slice(0, -1)}000+00:00`;
    expect({ status, json }).toEqual({
      status: 200,
      json: {
        ...{ id: expect.stringMatching(/^pay_[0-7][0-9a-z]{25}$/), object: 'payment', mode: 'test' },
        ...{ status: 'succeeded', status_detail: null, error: null, external_id: null, metadata: {} },
        ...{ recipient: 'Test recipient', amount_rub: `100.${String(kopecks).padStart(2, '0')}` },
        ...{ amount_usdt: expect.stringMatching(/^1\.\d{6}$/), rate: '92.5000' },
        ...{ currency: 'RUB', settlement_currency: 'USDT', created_at: now, settled_at: now },
      },
    });
    const { heldMicroUsdt, settledMicroUsdt } = await balanceOf(partner);
    expect(heldMicroUsdt).toBe(0n);
    expect(settledMicroUsdt).toBe(BigInt(json.amount_usdt.replace('.', '')));
  });

  test(',01: a failed payment, and the money is returned', async ({ partner }) => {
    const failed = await partner.pay({ qr_url: newLink(10_001) });
    expect(failed.status).toBe(200);
    const declined = { code: 'gateway_declined', message: expect.any(String) };
    expect(failed.json).toMatchObject({
      ...{ status: 'failed', status_detail: 'gateway_declined', error: declined },
      ...{ settled_at: expect.any(String), amount_usdt: '1.081190' },
    });
    expect(await balanceOf(partner)).toEqual(untouched);
    expect((await partner.get(`/v1/payments/${failed.json.id}`)).text).toBe(failed.text);
  });

  test(',02: unknown at once with the amount debited, success after 30 seconds and no sooner', async () => {
    const partner = await newPartner();
    const { status, json } = await partner.pay({ qr_url: newLink(10_002) });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      status: 'processing',
      status_detail: 'awaiting_gateway',
      settled_at: null,
      error: null,
    });
    const look = async () => (await partner.get(`/v1/payments/${json.id}`)).json;
    const debited = { availableMicroUsdt: 9_998_918_702n, heldMicroUsdt: 1_081_298n, settledMicroUsdt: 0n };
    expect(await balanceOf(partner)).toEqual(debited);
    clock.advance(29_999);
    await recoverDuePayments(deps);
    expect(await look()).toEqual(json);
    expect(await balanceOf(partner)).toEqual(debited);
    clock.advance(1);
    await recoverDuePayments(deps);
    const settled = `${new Date(clock.nowMs()).toISOString().slice(0, -1)}000+00:00`;
    expect(await look()).toEqual({ ...json, status: 'succeeded', status_detail: null, settled_at: settled });
    expect(await balanceOf(partner)).toEqual({ ...debited, heldMicroUsdt: 0n, settledMicroUsdt: 1_081_298n });
  });

  test(',02: survives the end of its process, and is ended once, however many processes poll', async () => {
    const partner = await newPartner();
    const { json } = await partner.pay({ qr_url: newLink(10_002) });
    const next = await startApi({ pool, clock });
    const look = async () =>
      (await partnerAt(next.address, partner.testKey).get(`/v1/payments/${json.id}`)).json;
    expect(await look()).toEqual(json);
    clock.advance(30_000);
    await Promise.all([deps, next.deps, deps, next.deps].map(recoverDuePayments));
    expect((await look()).status).toBe('succeeded');
    expect((await balanceOf(partner)).settledMicroUsdt).toBe(1_081_298n);
  });

  test(',03: refused as changed before any debit', async ({ partner }) => {
    expect(codeOf(await partner.pay({ qr_url: newLink(10_003) }))).toBe('409 qr_changed');
    await expectNothingHappened(partner);
  });

  test('count the same when the amount comes from amount_rub', async ({ partner }) => {
    const outcomes = [];
    for (const amount_rub of ['100.01', '100.02', '100.03', '100.04'])
      outcomes.push(codeOf(await partner.pay({ qr_url: newLink(), amount_rub })));
    expect(outcomes).toEqual(['200 failed', '200 processing', '409 qr_changed', '200 succeeded']);
  });
});

describe('the amount', () => {
  test.for(['"123.45"', '123.45'])('is amount_rub when the link has none: %s', async (raw, { partner }) => {
    const paid = await partner.post('/v1/payments', {
      raw: `{"qr_url":"${newLink()}","amount_rub":${raw}}`,
      headers: { 'idempotency-key': 'amount' },
    });
    expect(paid.json.amount_rub).toBe('123.45');
  });

  test('is missing when neither has one', async ({ partner }) => {
    for (const body of [{ qr_url: newLink() }, { qr_url: newLink(), amount_rub: null }])
      expect(codeOf(await partner.pay(body))).toBe('400 unsupported_variable_amount');
    await expectNothingHappened(partner);
  });

  test('that is sent must equal the amount of the link, to the kopeck', async ({ partner }) => {
    for (const amount_rub of ['123.44', '123.46', 123, '1234.5', 12345])
      expect(codeOf(await partner.pay({ qr_url: newLink(12_345), amount_rub }))).toBe('400 amount_mismatch');
    await expectNothingHappened(partner);
    expect(codeOf(await partner.pay({ qr_url: newLink(12_345), amount_rub: 123.45 }))).toBe('200 succeeded');
  });

  test.each([0, '-5', '1e2', '10.001', []])('of the shape %j is malformed', async amount_rub => {
    const partner = await newPartner();
    expectMalformed(await partner.pay({ qr_url: newLink(), amount_rub }), 'body', 'amount_rub');
    await expectNothingHappened(partner);
  });

  test.each([
    ['from 10 to 100 000 rubles', {}, [999, 1_000, 10_000_000, 10_000_004, 999_999_999_999]],
    [
      'as much as the partner may',
      { minKopecks: 100n, maxKopecks: 20_000n },
      [99, 100, 20_000, 20_004, 10_000_000],
    ],
  ])('may be %s', async (_range, limits, amounts) => {
    const partner = await newPartner(limits);
    const outcomes = [];
    for (const kopecks of amounts) outcomes.push(codeOf(await partner.pay({ qr_url: newLink(kopecks) })));
    expect(outcomes).toEqual([
      '400 invalid_request',
      ...Array(2).fill('200 succeeded'),
      ...Array(2).fill('400 amount_limit_exceeded'),
    ]);
  });
});

describe('the rate', () => {
  test('is fixed at creation', async ({ partner }) => {
    const paid = await partner.pay({ qr_url: newLink(10_000) }, 'rate');
    await setRate(pool, clock, '93.0000');
    const later = await partner.pay({ qr_url: newLink(10_000) });
    expect([paid.json.rate, later.json.rate]).toEqual(['92.5000', '93.0000']);
    expect([paid.json.amount_usdt, later.json.amount_usdt]).toEqual(['1.081082', '1.075269']);
    expect((await partner.get(`/v1/payments/${paid.json.id}`)).text).toBe(paid.text);
  });

  test('is valid until it is exactly 300 seconds old', async ({ partner }) => {
    clock.advance(300_000);
    expect(codeOf(await partner.pay({ qr_url: newLink(10_000) }))).toBe('200 succeeded');
    clock.advance(1);
    const before = await balanceOf(partner);
    expect(codeOf(await partner.pay({ qr_url: newLink(10_000) }))).toBe('503 rate_unavailable');
    expect(await balanceOf(partner)).toEqual(before);
  });

  test('that goes stale between reading and debiting refuses the payment, with nothing debited', async () => {
    const partner = await newPartner();
    const slow = await startApi({ pool, clock });
    const { writer } = slow.deps;
    const { open } = writer;
    writer.open = opening => {
      clock.advance(300_001);
      return open(opening);
    };
    const late = partnerAt(slow.address, partner.testKey);
    const link = newLink(10_000);
    expect(codeOf(await late.pay({ qr_url: link }, 'stale'))).toBe('503 rate_unavailable');
    await expectNothingHappened(partner);
    await setRate(pool, clock);
    expect(codeOf(await partner.pay({ qr_url: link }, 'stale'))).toBe('200 succeeded');
  });
});

describe('the balance', () => {
  test('that is too low is in the error, with the required amount', async () => {
    const partner = await newPartner({ maxKopecks: 1_000_000_000n });
    const refused = await partner.pay({ qr_url: newLink(100_000_000) });
    expect(refused.status).toBe(402);
    expect(refused.json.error).toEqual({
      ...{ code: 'insufficient_balance', message: expect.any(String), retryable: false, same_key: true },
      ...{ request_id: refused.headers.get('x-request-id') },
      ...{ required_usdt: '10810.810811', balance_usdt: '10000.000000' },
    });
    await expectNothingHappened(partner);
  });

  test('may be spent to the last micro-USDT and not beyond, and that of live mode is no help', async () => {
    const partner = await newPartner({ maxKopecks: 1_000_000_000n });
    expect(codeOf(await partner.pay({ qr_url: newLink(92_500_004) }))).toBe('402 insufficient_balance');
    expect(codeOf(await partner.pay({ qr_url: newLink(92_500_000) }))).toBe('200 succeeded');
    const refused = await partner.pay({ qr_url: newLink(1_000) });
    expect(refused.json.error).toMatchObject({ required_usdt: '0.108109', balance_usdt: '0.000000' });
    expect((await partner.get('/v1/balance')).json.balance_usdt).toBe('0.000000');
    expect((await readBalances(pool, partner.partnerId)).live.availableMicroUsdt).toBe(1_000_000_000n);
  });
});

// What is a link and what is not, in all forms: test/base/qr.test.ts.
describe('a link', () => {
  const id = 'AD10004MV5CJ3D638358RO81129CE63P';
  const good = `https://qr.nspk.ru/${id}?type=02&bank=100000000004&sum=30510&cur=RUB`;
  const resolve = (partner: Awaited<ReturnType<typeof newPartner>>, qr_url: unknown) =>
    partner.post('/v1/qr/resolve', { body: { qr_url } });

  const forms = [`${good}&crc=B754`, good.replaceAll('&', '&amp;'), `  ${good}\n`];
  test.for(forms)('is paid: %s', async (qr_url, { partner }) => {
    const paid = await partner.pay({ qr_url });
    expect(paid.json).toMatchObject({ status: 'succeeded', amount_rub: '305.10' });
    expect((await resolve(partner, qr_url)).json).toEqual({
      ...{ qrc_id: id, recipient: 'Test recipient', amount_rub: '305.10', currency: 'RUB' },
      ...{ purpose: 'Test payment', payable: true, request_id: expect.stringMatching(/^req_/) },
    });
  });

  test.for([
    ['is invalid: nothing', '', '400 invalid_qr'],
    ['is invalid: another host', `https://example.com/${id}`, '400 invalid_qr'],
    ['is invalid: a wrong checksum', `${good}&crc=0000`, '400 invalid_qr'],
    ['is invalid: longer than any link', `${good}&pad=${'x'.repeat(3_000)}`, '400 invalid_qr'],
    ['is for a subscription: another host', `https://sub.nspk.ru/${id}`, '400 unsupported_qr'],
    ['is for a subscription: another type', `https://qr.nspk.ru/${id}?type=03`, '400 unsupported_qr'],
  ])('%s', async ([_what, qr_url, code], { partner }) => {
    expect(codeOf(await partner.pay({ qr_url, amount_rub: 100 }))).toBe(code);
    expect(codeOf(await resolve(partner, qr_url))).toBe(code);
    await expectNothingHappened(partner);
  });

  test('without an amount cannot be resolved; over one outside the limits it is not payable', async () => {
    const partner = await newPartner();
    expect(codeOf(await resolve(partner, newLink()))).toBe('400 unsupported_variable_amount');
    const payable = [];
    for (const kopecks of [999, 1_000, 10_000_000, 10_000_001])
      payable.push((await resolve(partner, newLink(kopecks))).json.payable);
    expect(payable).toEqual([false, true, true, false]);
  });

  test.each([null, 1, {}, undefined, 'a\0b', '\ud800'])('that is %j is malformed', async qr_url => {
    const partner = await newPartner();
    for (const path of ['/v1/payments', '/v1/qr/resolve'])
      expectMalformed(await partner.post(path, { body: { qr_url } }), 'body', 'qr_url');
  });
});
