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
    expect(outcomes).toEqual([
      '200 succeeded',
      '200 processing',
      '403 daily_limit_exceeded',
      '200 succeeded',
      '403 daily_limit_exceeded',
    ]);
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
});

describe('a QR code under way', () => {
  test('is not paid again by the same partner, with whatever key and form of the link, until it has ended', async () => {
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
    const more = { mode: 'test', reference: 'more', microUsdt: 200_000_000_000n } as const;
    await topUp(audit, { partnerId: partner.partnerId, ...more });
    expect([await attempt(), isReplay(answer!)]).toEqual(['succeeded', false]);
  });
});
