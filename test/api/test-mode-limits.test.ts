import { describe, expect, test } from 'vitest';
import { blockRecipient, setMaintenance, unblockRecipient } from '../../src/controls/index.ts';
import { topUp } from '../../src/ledger/index.ts';
import { setLimits, setSuspended } from '../../src/partners/index.ts';
import { type Answer, codeOf, issueKey, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { isReplay, startTestModeWorld } from './test-mode-world.ts';

const { pool, clock, deps, audit, newPartner, balanceOf, expectNothingHappened } = await startTestModeWorld();

describe('the daily limit', () => {
  test('counts what is paid and what is under way', async () => {
    const partner = await newPartner({ dailyKopecks: 30_002n });
    const outcomes = [];
    for (const kopecks of [10_000, 10_002, 10_005, 10_000, 1_000])
      outcomes.push(codeOf(await partner.pay({ qr_url: newLink(kopecks) })));
    const [paid, refused] = ['200 succeeded', '403 daily_limit_exceeded'];
    expect(outcomes).toEqual([paid, '200 processing', refused, paid, refused]);
  });

  test('is given back by a payment that fails, and starts again with the day in UTC', async () => {
    const partner = await newPartner({ dailyKopecks: 10_001n });
    const pay = async (kopecks: number) => codeOf(await partner.pay({ qr_url: newLink(kopecks) }));
    const dayMs = 86_400_000;
    clock.advance(dayMs - (clock.nowMs() % dayMs) - 1);
    await setRate(pool, clock);
    for (const _day of ['old', 'new']) {
      expect(await pay(10_001)).toBe('200 failed');
      expect(await pay(10_000)).toBe('200 succeeded');
      expect(await pay(1_000)).toBe('403 daily_limit_exceeded');
      clock.advance(1);
    }
    const closed = await newPartner({ dailyKopecks: 0n });
    expect(codeOf(await closed.pay({ qr_url: newLink(1_000) }))).toBe('403 daily_limit_exceeded');
    await expectNothingHappened(closed);
  });
});

test('concurrent payments are as many as the limit; the next is busy until one ends', async () => {
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

test('a QR code under way is not paid again by the same partner, whatever the key and the link, until it has ended', async () => {
  const [partner, other] = [await newPartner(), await newPartner()];
  const link = newLink(10_002);
  const first = await partner.pay({ qr_url: link });
  for (const same of [
    link,
    link.replace('sum=10002', 'sum=20000'),
    link.replace('https://qr.', 'https://web.qr.'),
    link.replace('https', 'bank100000000004'),
  ])
    expect(codeOf(await partner.pay({ qr_url: same }))).toBe('409 duplicate_qr_in_flight');
  expect((await partner.get('/v1/payments')).json.data).toEqual([first.json]);
  expect((await balanceOf(partner)).heldMicroUsdt).toBe(1_081_298n);
  expect(codeOf(await other.pay({ qr_url: link }))).toBe('200 processing');
  clock.advance(30_000);
  await recoverDuePayments(deps);
  expect(codeOf(await partner.pay({ qr_url: link }))).toBe('200 processing');
});

describe('the operator', () => {
  test('blocks a recipient', async () => {
    const partner = await newPartner();
    await blockRecipient(audit, ' TEST  RECIPIENT ');
    const link = newLink(10_000);
    expect(codeOf(await partner.pay({ qr_url: link }, 'blocked'))).toBe('403 recipient_blocked');
    expect((await partner.post('/v1/qr/resolve', { body: { qr_url: link } })).json.payable).toBe(false);
    await expectNothingHappened(partner);
    await unblockRecipient(audit, 'Test recipient');
    expect(codeOf(await partner.pay({ qr_url: link }, 'blocked'))).toBe('200 succeeded');
  });

  test('closes for maintenance: no new payments, everything else goes on', async () => {
    const partner = await newPartner();
    const running = await partner.pay({ qr_url: newLink(10_002) });
    await setMaintenance(audit, true);
    expect(codeOf(await partner.pay({ qr_url: newLink(10_000) }, 'paused'))).toBe('503 maintenance');
    for (const path of ['/v1/balance', '/v1/rate', '/v1/payments', `/v1/payments/${running.json.id}`])
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

describe('several objections at once', () => {
  test('are raised in the order of the decisions, and none of them debits or binds the key', async () => {
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
    let answer: Answer;
    const attempt = async () => {
      answer = await partnerAt(proxied.address, token).post('/v1/payments', {
        ...(body ? { body } : { raw: '{broken' }),
        headers: {
          'x-forwarded-for': from,
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
      });
      return answer.json.detail ? 'malformed' : (answer.json.error?.code ?? answer.json.status);
    };
    const link = (amount: string) => running.replace('sum=10002', amount);
    const { partnerId } = partner;
    const faster = () => setLimits(audit, partnerId, { createRps: 1_000, createBurst: 1_000 });
    /** What is put right, and the objection that comes next; at once, unless the process learns of the change. */
    const steps: [change: () => unknown, next: string, when?: 'soon'][] = [
      [() => {}, 'unauthorized'],
      [() => (token = key), 'ip_not_allowed'],
      [() => (from = '192.0.2.1'), 'partner_suspended', 'soon'],
      [() => setSuspended(audit, partnerId, false), 'rate_limited', 'soon'],
      // The rate is too old by the time it counts.
      [() => Promise.all([faster(), clock.advance(301_000)]), 'malformed', 'soon'],
      [() => (body = { qr_url: 'nonsense', amount_rub: '5.00' }), 'idempotency_conflict'],
      [() => (idempotencyKey = undefined), 'missing_idempotency_key'],
      [() => (idempotencyKey = 'é'), 'invalid_request'],
      [() => (idempotencyKey = 'known'), 'idempotency_conflict'],
      [() => (idempotencyKey = 'fresh'), 'maintenance'],
      [() => setMaintenance(audit, false), 'rate_unavailable'],
      [() => setRate(pool, clock), 'invalid_qr'],
      [
        () => (body = { qr_url: running.replace('type=02', 'type=03'), amount_rub: '5.00' }),
        'unsupported_qr',
      ],
      [() => (body = { qr_url: running.replace(/\?.*/, '') }), 'unsupported_variable_amount'],
      [() => (body = { qr_url: link('sum=503'), amount_rub: '5.00' }), 'amount_mismatch'],
      [() => (body = { qr_url: link('sum=503') }), 'invalid_request'],
      [() => (body = { qr_url: link('sum=999999903') }), 'amount_limit_exceeded'],
      [() => setLimits(audit, partnerId, { maxKopecks: 1_000_000_000n }), 'recipient_blocked', 'soon'],
      [() => unblockRecipient(audit, 'Test recipient'), 'qr_changed'],
      [() => (body = { qr_url: link('sum=999999900') }), 'duplicate_qr_in_flight'],
      [() => (body = { qr_url: newLink(999_999_900) }), 'gateway_busy'],
      [() => setLimits(audit, partnerId, { concurrent: 2 }), 'daily_limit_exceeded'],
      [() => setLimits(audit, partnerId, { dailyKopecks: null }), 'insufficient_balance'],
    ];
    for (const [change, next, when] of steps) {
      await change();
      if (when === 'soon') await expect.poll(attempt, { interval: 1 }).toBe(next);
      else expect(await attempt()).toBe(next);
    }
    const { heldMicroUsdt, settledMicroUsdt } = await balanceOf(partner);
    expect([heldMicroUsdt, settledMicroUsdt]).toEqual([1_081_298n, 0n]);
    await topUp(audit, { partnerId, mode: 'test', reference: 'more', microUsdt: 200_000_000_000n });
    expect([await attempt(), isReplay(answer!)]).toEqual(['succeeded', false]);
  });
});
