import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { crc16 } from '../../src/base/qr.ts';
import { blockRecipient, setMaintenance, unblockRecipient } from '../../src/controls/index.ts';
import { readBalances, verifyLedger } from '../../src/ledger/index.ts';
import { createPartner, type Limits, setLimits, setSuspended } from '../../src/partners/index.ts';
import { recoverDuePayments } from '../../src/payments/index.ts';
import {
  type Answer,
  createCustomer,
  issueKey,
  newLink,
  partnerAt,
  setRate,
  startApi,
} from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
const clock = manualClock();
const { address, deps } = await startApi({ pool, clock });
const audit = auditContextOf(pool);
beforeEach(() => setRate(pool, clock));
afterAll(async () => {
  expect((await verifyLedger(pool)).findings).toEqual([]);
});

async function newPartner(limits: Partial<Limits> = {}) {
  const { partnerId, testKey, liveKey } = await createCustomer(pool);
  await setLimits(audit, partnerId, limits);
  return { ...partnerAt(address, testKey), partnerId, testKey, liveKey };
}
type Partner = Awaited<ReturnType<typeof newPartner>>;

const balanceOf = async ({ partnerId }: Partner) => (await readBalances(pool, partnerId)).test;
const untouched = { availableMicroUsdt: 10_000_000_000n, heldMicroUsdt: 0n, settledMicroUsdt: 0n };
const codeOf = ({ status, json }: Answer) => `${status} ${json.status ?? json.error.code}`;

/** Nothing debited, nothing listed. */
async function expectNothingHappened(partner: Partner) {
  expect(await balanceOf(partner)).toEqual(untouched);
  expect((await partner.get('/v1/payments')).json.data).toEqual([]);
}

describe('the kopecks of the amount', () => {
  test.each([0, 4, 10, 50, 99])(',%i: succeed', async kopecks => {
    const partner = await newPartner();
    const { status, json } = await partner.pay({ qr_url: newLink(10_000 + kopecks) });
    const now = `${new Date(clock.nowMs()).toISOString().slice(0, -1)}000+00:00`;
    expect({ status, json }).toEqual({
      status: 200,
      json: {
        id: expect.stringMatching(/^pay_[0-7][0-9a-z]{25}$/),
        object: 'payment',
        mode: 'test',
        status: 'succeeded',
        status_detail: null,
        external_id: null,
        recipient: 'Test recipient',
        amount_rub: `100.${String(kopecks).padStart(2, '0')}`,
        amount_usdt: expect.stringMatching(/^1\.\d{6}$/),
        rate: '92.5000',
        currency: 'RUB',
        settlement_currency: 'USDT',
        created_at: now,
        settled_at: now,
        error: null,
        metadata: {},
      },
    });
    const { heldMicroUsdt, settledMicroUsdt } = await balanceOf(partner);
    expect(heldMicroUsdt).toBe(0n);
    expect(settledMicroUsdt).toBe(BigInt(json.amount_usdt.replace('.', '')));
  });

  test(',01: refusal in a payment of its own, and the money is back', async () => {
    const partner = await newPartner();
    const failed = await partner.pay({ qr_url: newLink(10_001) });
    expect(failed.status).toBe(200);
    expect(failed.json).toMatchObject({
      status: 'failed',
      status_detail: 'gateway_declined',
      error: { code: 'gateway_declined', message: expect.any(String) },
      settled_at: expect.any(String),
      amount_usdt: '1.081190',
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
    expect(await balanceOf(partner)).toEqual({
      ...debited,
      heldMicroUsdt: 0n,
      settledMicroUsdt: debited.heldMicroUsdt,
    });
  });

  test(',02: survives the end of the process that took it', async () => {
    const partner = await newPartner();
    const { json } = await partner.pay({ qr_url: newLink(10_002) });
    const next = await startApi({ pool, clock });
    const later = partnerAt(next.address, partner.testKey);
    expect((await later.get(`/v1/payments/${json.id}`)).json).toEqual(json);
    clock.advance(30_000);
    await recoverDuePayments(next.deps);
    expect((await later.get(`/v1/payments/${json.id}`)).json.status).toBe('succeeded');
  });

  test(',02: is ended once, however many processes look', async () => {
    const partner = await newPartner();
    const { json } = await partner.pay({ qr_url: newLink(10_002) });
    const next = await startApi({ pool, clock });
    clock.advance(30_000);
    await Promise.all([deps, next.deps, deps, next.deps].map(recoverDuePayments));
    expect((await partner.get(`/v1/payments/${json.id}`)).json.status).toBe('succeeded');
    expect((await balanceOf(partner)).settledMicroUsdt).toBe(1_081_298n);
  });

  test(',03: refused as changed before any debit', async () => {
    const partner = await newPartner();
    expect(codeOf(await partner.pay({ qr_url: newLink(10_003) }))).toBe('409 qr_changed');
    await expectNothingHappened(partner);
  });

  test('count the same when the amount comes from amount_rub', async () => {
    const partner = await newPartner();
    const outcomes = [];
    for (const amount_rub of ['100.01', '100.02', '100.03', '100.04'])
      outcomes.push(codeOf(await partner.pay({ qr_url: newLink(), amount_rub })));
    expect(outcomes).toEqual(['200 failed', '200 processing', '409 qr_changed', '200 succeeded']);
  });
});

describe('the amount', () => {
  test('is that of the link', async () => {
    const partner = await newPartner();
    expect((await partner.pay({ qr_url: newLink(12_345) })).json.amount_rub).toBe('123.45');
  });

  test.each(['"123.45"', '123.45', '"0123.45"'])('is amount_rub when the link has none: %s', async raw => {
    const partner = await newPartner();
    const paid = await partner.post('/v1/payments', {
      raw: `{"qr_url":"${newLink()}","amount_rub":${raw}}`,
      headers: { 'idempotency-key': 'amount' },
    });
    expect(paid.json.amount_rub).toBe('123.45');
  });

  test('is missing when neither has one', async () => {
    const partner = await newPartner();
    for (const body of [{ qr_url: newLink() }, { qr_url: newLink(), amount_rub: null }])
      expect(codeOf(await partner.pay(body))).toBe('400 unsupported_variable_amount');
    await expectNothingHappened(partner);
  });

  test('that is sent has to be that of the link, to the kopeck', async () => {
    const partner = await newPartner();
    for (const amount_rub of ['123.44', '123.46', 123, '1234.5', 12345])
      expect(codeOf(await partner.pay({ qr_url: newLink(12_345), amount_rub }))).toBe('400 amount_mismatch');
    await expectNothingHappened(partner);
    expect(codeOf(await partner.pay({ qr_url: newLink(12_345), amount_rub: 123.45 }))).toBe('200 succeeded');
  });

  test.each([0, '0', '-5', '1e2', '1,5', 'NaN', '10.001', true, [], {}])(
    'of the shape %j is malformed',
    async amount_rub => {
      const partner = await newPartner();
      const { status, json } = await partner.pay({ qr_url: newLink(), amount_rub });
      expect({ status, loc: json.detail[0].loc }).toEqual({ status: 422, loc: ['body', 'amount_rub'] });
      await expectNothingHappened(partner);
    },
  );

  test('may be from 10 to 100 000 rubles', async () => {
    const partner = await newPartner();
    const outcomes = [];
    for (const kopecks of [999, 1_000, 10_000_000, 10_000_004, 999_999_999_999])
      outcomes.push(codeOf(await partner.pay({ qr_url: newLink(kopecks) })));
    expect(outcomes).toEqual([
      '400 invalid_request',
      '200 succeeded',
      '200 succeeded',
      '400 amount_limit_exceeded',
      '400 amount_limit_exceeded',
    ]);
  });

  test('may be as much as the limits of the partner say', async () => {
    const partner = await newPartner({ minKopecks: 100n, maxKopecks: 20_000n });
    const outcomes = [];
    for (const kopecks of [99, 100, 20_000, 20_004])
      outcomes.push(codeOf(await partner.pay({ qr_url: newLink(kopecks) })));
    expect(outcomes).toEqual([
      '400 invalid_request',
      '200 succeeded',
      '200 succeeded',
      '400 amount_limit_exceeded',
    ]);
  });
});

describe('the rate', () => {
  test('is the one of the moment of creation, for ever', async () => {
    const partner = await newPartner();
    const paid = await partner.pay({ qr_url: newLink(10_000) }, 'rate');
    await setRate(pool, clock, '93.0000');
    const later = await partner.pay({ qr_url: newLink(10_000) });
    expect([paid.json.rate, later.json.rate]).toEqual(['92.5000', '93.0000']);
    expect([paid.json.amount_usdt, later.json.amount_usdt]).toEqual(['1.081082', '1.075269']);
    expect((await partner.get(`/v1/payments/${paid.json.id}`)).text).toBe(paid.text);
  });

  test('still serves when it is exactly 300 seconds old, and no longer', async () => {
    const partner = await newPartner();
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
    const { open } = slow.deps.writer;
    slow.deps.writer.open = opening => {
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

describe('the daily limit', () => {
  test('counts what is paid and what is under way', async () => {
    const partner = await newPartner({ dailyKopecks: 30_002n });
    const outcomes = [];
    for (const kopecks of [10_000, 10_002, 10_005, 10_000, 1_000])
      outcomes.push(codeOf(await partner.pay({ qr_url: newLink(kopecks) })));
    expect(outcomes).toEqual([
      '200 succeeded',
      '200 processing',
      '403 daily_limit_exceeded',
      '200 succeeded',
      '403 daily_limit_exceeded',
    ]);
  });

  test('is given back by a payment that fails', async () => {
    const partner = await newPartner({ dailyKopecks: 10_001n });
    expect(codeOf(await partner.pay({ qr_url: newLink(10_001) }))).toBe('200 failed');
    expect(codeOf(await partner.pay({ qr_url: newLink(10_000) }))).toBe('200 succeeded');
    expect(codeOf(await partner.pay({ qr_url: newLink(1_000) }))).toBe('403 daily_limit_exceeded');
  });

  test('begins anew with the day in UTC', async () => {
    const partner = await newPartner({ dailyKopecks: 10_000n });
    const dayMs = 86_400_000;
    clock.advance(dayMs - (clock.nowMs() % dayMs) - 1);
    await setRate(pool, clock);
    expect(codeOf(await partner.pay({ qr_url: newLink(10_000) }))).toBe('200 succeeded');
    expect(codeOf(await partner.pay({ qr_url: newLink(10_000) }))).toBe('403 daily_limit_exceeded');
    clock.advance(1);
    expect(codeOf(await partner.pay({ qr_url: newLink(10_000) }))).toBe('200 succeeded');
    expect(codeOf(await partner.pay({ qr_url: newLink(10_000) }))).toBe('403 daily_limit_exceeded');
  });

  test('of zero lets nothing through, and none lets everything', async () => {
    const closed = await newPartner({ dailyKopecks: 0n });
    expect(codeOf(await closed.pay({ qr_url: newLink(1_000) }))).toBe('403 daily_limit_exceeded');
    await expectNothingHappened(closed);
    const open = await newPartner({ dailyKopecks: null });
    for (let count = 0; count < 5; count++)
      expect(codeOf(await open.pay({ qr_url: newLink(10_000_000) }))).toBe('200 succeeded');
  });
});

describe('concurrent payments', () => {
  test('are as many as the limit; the next is busy until one ends', async () => {
    const partner = await newPartner({ concurrent: 2 });
    const outcomes = [];
    for (let count = 0; count < 3; count++)
      outcomes.push(codeOf(await partner.pay({ qr_url: newLink(10_002) })));
    expect(outcomes).toEqual(['200 processing', '200 processing', '503 gateway_busy']);
    expect((await balanceOf(partner)).heldMicroUsdt).toBe(2n * 1_081_298n);
    clock.advance(30_000);
    await recoverDuePayments(deps);
    expect(codeOf(await partner.pay({ qr_url: newLink(10_002) }))).toBe('200 processing');
  });

  test('that have ended hold no slot', async () => {
    const partner = await newPartner({ concurrent: 1 });
    const outcomes = [];
    for (const kopecks of [10_000, 10_001, 10_003, 10_000])
      outcomes.push(codeOf(await partner.pay({ qr_url: newLink(kopecks) })));
    expect(outcomes).toEqual(['200 succeeded', '200 failed', '409 qr_changed', '200 succeeded']);
  });

  test('are two for a new partner, and test and live are counted apart', async () => {
    const { partnerId } = await createPartner(audit, 'Newcomer');
    const partner = partnerAt(address, await issueKey(pool, partnerId, 'test'));
    const outcomes = [];
    for (let count = 0; count < 3; count++)
      outcomes.push(codeOf(await partner.pay({ qr_url: newLink(10_002) })));
    expect(outcomes).toEqual(['200 processing', '200 processing', '503 gateway_busy']);
    // Live mode asks the gateway, of which there is none here; what matters is that it got that far.
    const live = partnerAt(address, await issueKey(pool, partnerId, 'live'));
    expect(codeOf(await live.pay({ qr_url: newLink(10_002) }))).toBe('503 gateway_unavailable');
  });
});

describe('a QR code under way', () => {
  test('is not paid again by the same partner, with whatever key, until it has ended', async () => {
    const partner = await newPartner();
    const link = newLink(10_002);
    const first = await partner.pay({ qr_url: link });
    expect(codeOf(await partner.pay({ qr_url: link }))).toBe('409 duplicate_qr_in_flight');
    expect((await partner.get('/v1/payments')).json.data).toEqual([first.json]);
    expect((await balanceOf(partner)).heldMicroUsdt).toBe(1_081_298n);
    clock.advance(30_000);
    await recoverDuePayments(deps);
    expect(codeOf(await partner.pay({ qr_url: link }))).toBe('200 processing');
  });

  test('is known by its code and not by the rest of the link', async () => {
    const partner = await newPartner();
    const link = newLink(10_002);
    await partner.pay({ qr_url: link });
    for (const same of [
      link.replace('sum=10002', 'sum=20000'),
      link.replace('https://qr.', 'https://web.qr.'),
      link.replace('https', 'bank100000000004'),
    ]) {
      expect(codeOf(await partner.pay({ qr_url: same }))).toBe('409 duplicate_qr_in_flight');
    }
  });

  test('may be paid by another partner, and with a test key of this one it is not in the way of live', async () => {
    const [first, second] = [await newPartner(), await newPartner()];
    const link = newLink(10_002);
    expect(codeOf(await first.pay({ qr_url: link }))).toBe('200 processing');
    expect(codeOf(await second.pay({ qr_url: link }))).toBe('200 processing');
    // Live mode asks the gateway, of which there is none here; what matters is that it got that far.
    const live = partnerAt(address, first.liveKey);
    expect(codeOf(await live.pay({ qr_url: link }))).toBe('503 gateway_unavailable');
  });

  test('is free again after a refusal', async () => {
    const partner = await newPartner({ maxKopecks: 1_000_000_000n });
    const link = newLink();
    expect(codeOf(await partner.pay({ qr_url: link, amount_rub: 1_000_000 }))).toBe(
      '402 insufficient_balance',
    );
    expect(codeOf(await partner.pay({ qr_url: link, amount_rub: 100 }))).toBe('200 succeeded');
  });
});

describe('payments decided in one statement', () => {
  test('do not stand in the way of each other when they are refused', async () => {
    const partner = await newPartner({ maxKopecks: 1_000_000_000n });
    const gathering = await startApi({ pool, clock });
    const { open } = gathering.deps.writer;
    const openings: Parameters<typeof open>[0][] = [];
    gathering.deps.writer.open = opening => {
      openings.push(opening);
      return Promise.reject(new Error('not yet'));
    };
    const gatherer = partnerAt(gathering.address, partner.testKey);
    const link = newLink();
    // While the first is under way, the other two gather.
    await gatherer.pay({ qr_url: newLink(10_000) });
    await gatherer.pay({ qr_url: link, amount_rub: 1_000_000 });
    await gatherer.pay({ qr_url: link, amount_rub: 100 });
    const results = await Promise.all(openings.map(open));
    expect(results.map(({ verdict }) => verdict)).toEqual(['opened', 'insufficient_balance', 'opened']);
  });
});

describe('the balance', () => {
  test('that does not suffice is told together with what is needed', async () => {
    const partner = await newPartner({ maxKopecks: 1_000_000_000n });
    const refused = await partner.pay({ qr_url: newLink(100_000_000) });
    expect(refused.status).toBe(402);
    expect(refused.json.error).toEqual({
      code: 'insufficient_balance',
      message: expect.any(String),
      retryable: false,
      same_key: true,
      request_id: refused.headers.get('x-request-id'),
      required_usdt: '10810.810811',
      balance_usdt: '10000.000000',
    });
    await expectNothingHappened(partner);
  });

  test('may be spent to the last micro-USDT, and not beyond', async () => {
    const partner = await newPartner({ maxKopecks: 1_000_000_000n });
    expect(codeOf(await partner.pay({ qr_url: newLink(92_500_004) }))).toBe('402 insufficient_balance');
    expect(codeOf(await partner.pay({ qr_url: newLink(92_500_000) }))).toBe('200 succeeded');
    const refused = await partner.pay({ qr_url: newLink(1_000) });
    expect(refused.json.error).toMatchObject({ required_usdt: '0.108109', balance_usdt: '0.000000' });
    expect((await partner.get('/v1/balance')).json.balance_usdt).toBe('0.000000');
  });

  test('of live mode is no help in test mode', async () => {
    const partner = await newPartner({ maxKopecks: 1_000_000_000n });
    await partner.pay({ qr_url: newLink(92_500_000) });
    expect(codeOf(await partner.pay({ qr_url: newLink(1_000) }))).toBe('402 insufficient_balance');
    expect((await readBalances(pool, partner.partnerId)).live.availableMicroUsdt).toBe(1_000_000_000n);
  });
});

describe('the operator', () => {
  test.each(['Test recipient', ' TEST  RECIPIENT ', 'test'])('blocks the recipient %j', async name => {
    const partner = await newPartner();
    await blockRecipient(audit, name);
    const link = newLink(10_000);
    expect(codeOf(await partner.pay({ qr_url: link }, 'blocked'))).toBe('403 recipient_blocked');
    expect((await partner.post('/v1/qr/resolve', { body: { qr_url: link } })).json.payable).toBe(false);
    await expectNothingHappened(partner);
    await unblockRecipient(audit, name);
    expect(codeOf(await partner.pay({ qr_url: link }, 'blocked'))).toBe('200 succeeded');
  });

  test('closes for maintenance: no new payments, everything else goes on', async () => {
    const partner = await newPartner();
    const running = await partner.pay({ qr_url: newLink(10_002) });
    await setMaintenance(audit, true);
    expect(codeOf(await partner.pay({ qr_url: newLink(10_000) }, 'paused'))).toBe('503 maintenance');
    for (const path of [
      '/v1/ping',
      '/v1/balance',
      '/v1/rate',
      '/v1/payments',
      `/v1/payments/${running.json.id}`,
    ])
      expect((await partner.get(path)).status).toBe(200);
    expect((await partner.post('/v1/quote', { body: { amount_rub: 1 } })).status).toBe(200);
    expect((await partner.post('/v1/qr/resolve', { body: { qr_url: newLink(10_000) } })).status).toBe(200);
    clock.advance(30_000);
    await recoverDuePayments(deps);
    expect((await partner.get(`/v1/payments/${running.json.id}`)).json.status).toBe('succeeded');
    await setMaintenance(audit, false);
    expect(codeOf(await partner.pay({ qr_url: newLink(10_000) }, 'paused'))).toBe('200 succeeded');
  });
});

describe('a link', () => {
  const id = 'AD10004MV5CJ3D638358RO81129CE63P';
  const checked = (text: string) => `${text}&crc=${crc16(text)}`;
  const good = `https://qr.nspk.ru/${id}?type=02&bank=100000000004&sum=30510&cur=RUB`;

  test.each([
    good,
    checked(good),
    'https://qr.nspk.ru/AD10004MV5CJ3D638358RO81129CE63P?type=02&bank=100000000004&sum=30510&cur=RUB&crc=B754',
    good.replace('qr.', 'web.qr.'),
    good.replace('https', 'bank100000000004'),
    good.replaceAll('&', '&amp;'),
    `  ${good}\n`,
    good.replace('type=02', 'type=01'),
  ])('is paid: %s', async qr_url => {
    const partner = await newPartner();
    expect((await partner.pay({ qr_url })).json).toMatchObject({ status: 'succeeded', amount_rub: '305.10' });
    expect((await partner.post('/v1/qr/resolve', { body: { qr_url } })).json).toEqual({
      qrc_id: id,
      recipient: 'Test recipient',
      amount_rub: '305.10',
      currency: 'RUB',
      purpose: 'Test payment',
      payable: true,
      request_id: expect.stringMatching(/^req_/),
    });
  });

  test.each([
    '',
    ' ',
    id,
    'https://qr.nspk.ru/',
    'https://qr.nspk.ru/short',
    `http://qr.nspk.ru/${id}`,
    `ftp://qr.nspk.ru/${id}`,
    `javascript://qr.nspk.ru/${id}`,
    `https://example.com/${id}`,
    `https://qr.nspk.ru.example.com/${id}`,
    `https://example.com/?https://qr.nspk.ru/${id}`,
    `https://user@qr.nspk.ru/${id}`,
    `https://qr.nspk.ru@example.com/${id}`,
    `https://qr.nspk.ru:8443/${id}`,
    `https://qr.nspk.ru/${id}/more`,
    `https://qr.nspk.ru/../${id}`,
    `${good}&crc=0000`,
    good.replace('cur=RUB', 'cur=USD'),
    good.replace('30510', '0'),
    good.replace('30510', '-1'),
    good.replace('30510', '1.5'),
    good.replace('30510', '1e3'),
    good.replace('30510', '1'.repeat(30)),
    good.replace('type=02', 'type=99'),
    '🙂',
  ])('is none: %s', async qr_url => {
    const partner = await newPartner();
    expect(codeOf(await partner.pay({ qr_url }))).toBe('400 invalid_qr');
    expect(codeOf(await partner.post('/v1/qr/resolve', { body: { qr_url } }))).toBe('400 invalid_qr');
    await expectNothingHappened(partner);
  });

  test('is none when it is longer than any link', async () => {
    const partner = await newPartner();
    const qr_url = `${good}&pad=${'x'.repeat(3_000)}`;
    expect(codeOf(await partner.pay({ qr_url }))).toBe('400 invalid_qr');
  });

  test.each([`https://sub.nspk.ru/${id}`, `https://qr.nspk.ru/${id}?type=03`])(
    'is for a subscription: %s',
    async qr_url => {
      const partner = await newPartner();
      expect(codeOf(await partner.pay({ qr_url, amount_rub: 100 }))).toBe('400 unsupported_qr');
      expect(codeOf(await partner.post('/v1/qr/resolve', { body: { qr_url } }))).toBe('400 unsupported_qr');
      await expectNothingHappened(partner);
    },
  );

  test('without an amount cannot be resolved, even in test mode', async () => {
    const partner = await newPartner();
    const resolved = await partner.post('/v1/qr/resolve', { body: { qr_url: newLink() } });
    expect(codeOf(resolved)).toBe('400 unsupported_variable_amount');
  });

  test('over an amount outside the limits is resolved as not payable', async () => {
    const partner = await newPartner();
    const payable = [];
    for (const kopecks of [999, 1_000, 10_000_000, 10_000_001]) {
      const body = { qr_url: newLink(kopecks) };
      payable.push((await partner.post('/v1/qr/resolve', { body })).json.payable);
    }
    expect(payable).toEqual([false, true, true, false]);
  });

  test.each([null, 1, true, [], {}, undefined])('that is %j is malformed', async qr_url => {
    const partner = await newPartner();
    for (const path of ['/v1/payments', '/v1/qr/resolve']) {
      const { status, json } = await partner.post(path, { body: { qr_url } });
      expect({ status, loc: json.detail[0].loc }).toEqual({ status: 422, loc: ['body', 'qr_url'] });
    }
  });

  test('with NUL or half a character is malformed', async () => {
    const partner = await newPartner();
    for (const bad of ['\\u0000', '\\ud800']) {
      const { status, json } = await partner.post('/v1/payments', { raw: `{"qr_url":"${good}${bad}"}` });
      expect({ status, loc: json.detail[0].loc }).toEqual({ status: 422, loc: ['body', 'qr_url'] });
    }
  });
});

describe('several objections at once', () => {
  test('are raised in the order of the decisions, and none of them debits', async () => {
    const proxied = await startApi({ pool, clock, trustProxy: ['127.0.0.1'] });
    const partner = await newPartner({ createRps: 1, createBurst: 1, concurrent: 1, dailyKopecks: 10_002n });
    const key = await issueKey(pool, partner.partnerId, 'test', ['192.0.2.1']);
    const running = newLink(10_002);
    expect(codeOf(await partner.pay({ qr_url: running }, 'known'))).toBe('200 processing');
    await setMaintenance(audit, true);
    await blockRecipient(audit, 'Test recipient');
    await setSuspended(audit, partner.partnerId, true);

    let [token, from, idempotencyKey] = [`${key}0`, '198.51.100.1', 'known' as string | undefined];
    let body: object | undefined;
    const attempt = async () => {
      const answer = await partnerAt(proxied.address, token).post('/v1/payments', {
        ...(body ? { body } : { raw: '{broken' }),
        headers: {
          'x-forwarded-for': from,
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
      });
      return answer.json.detail ? 'malformed' : (answer.json.error?.code ?? answer.json.status);
    };
    const soon = { interval: 1 };

    expect(await attempt()).toBe('unauthorized');
    token = key;
    expect(await attempt()).toBe('ip_not_allowed');
    from = '192.0.2.1';
    await expect.poll(attempt, soon).toBe('partner_suspended');
    await setSuspended(audit, partner.partnerId, false);
    await expect.poll(attempt, soon).toBe('rate_limited');
    await setLimits(audit, partner.partnerId, { createRps: 1_000, createBurst: 1_000 });
    clock.advance(301_000);
    await expect.poll(attempt, soon).toBe('malformed');
    body = { qr_url: 'nonsense', amount_rub: '5.00' };
    idempotencyKey = undefined;
    expect(await attempt()).toBe('missing_idempotency_key');
    idempotencyKey = 'é';
    expect(await attempt()).toBe('invalid_request');
    idempotencyKey = 'known';
    expect(await attempt()).toBe('idempotency_conflict');
    idempotencyKey = 'fresh';
    expect(await attempt()).toBe('maintenance');
    await setMaintenance(audit, false);
    expect(await attempt()).toBe('rate_unavailable');
    await setRate(pool, clock);
    expect(await attempt()).toBe('invalid_qr');
    body = { qr_url: running.replace('type=02', 'type=03'), amount_rub: '5.00' };
    expect(await attempt()).toBe('unsupported_qr');
    body = { qr_url: running.replace(/\?.*/, '') };
    expect(await attempt()).toBe('unsupported_variable_amount');
    body = { qr_url: running.replace('10002', '503'), amount_rub: '5.00' };
    expect(await attempt()).toBe('amount_mismatch');
    body = { qr_url: running.replace('10002', '503') };
    expect(await attempt()).toBe('invalid_request');
    body = { qr_url: running.replace('10002', '999999903') };
    expect(await attempt()).toBe('amount_limit_exceeded');
    await setLimits(audit, partner.partnerId, { maxKopecks: 1_000_000_000n });
    await expect.poll(attempt, soon).toBe('recipient_blocked');
    await unblockRecipient(audit, 'Test recipient');
    expect(await attempt()).toBe('qr_changed');
    body = { qr_url: running.replace('10002', '999999900') };
    expect(await attempt()).toBe('duplicate_qr_in_flight');
    body = { qr_url: newLink(999_999_900) };
    expect(await attempt()).toBe('gateway_busy');
    await setLimits(audit, partner.partnerId, { concurrent: 2 });
    expect(await attempt()).toBe('daily_limit_exceeded');
    await setLimits(audit, partner.partnerId, { dailyKopecks: null });
    expect(await attempt()).toBe('insufficient_balance');
    expect((await balanceOf(partner)).heldMicroUsdt).toBe(1_081_298n);
    expect((await balanceOf(partner)).settledMicroUsdt).toBe(0n);
    body = { qr_url: newLink(10_000) };
    expect(await attempt()).toBe('succeeded');
  });
});
