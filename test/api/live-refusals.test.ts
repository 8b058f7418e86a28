import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { idFromUuid } from '../../src/base/ids.ts';
import { blockRecipient, unblockRecipient } from '../../src/controls/index.ts';
import { setLimits } from '../../src/partners/index.ts';
import { codeOf, newLink, partnerAt } from '../helpers/api.ts';
import { auditContextOf, createFundedPartner } from '../helpers/database.ts';
import { openingsOf } from '../helpers/openings.ts';
import { makeQr } from '../helpers/simulator.ts';
import { failed, full, less, startLiveWorld, underReview } from './live-world.ts';

const world = await startLiveWorld();
const { pool, deps, clock, simulator, hasty, rowsOf } = world;
const { newCustomer, qrWith, holdOrders, untilBank, recoverAfter } = world;

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
      expect(codeOf(refused)).toBe(`${status} ${code}`);
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

  test('all joined requests get the refusal, and then the key is free', async () => {
    const { partner, balance } = await newCustomer();
    const qr = await qrWith({ on: 'pay', kind: 'busy', times: 1 });
    const key = randomUUID();
    const { sent, release } = holdOrders();
    const first = partner.pay({ qr_url: qr.link }, key);
    await sent;
    const waiting = vi.spyOn(deps.outcomeWaiters, 'waitForOutcome');
    const joined = [1, 2, 3].map(() => partner.pay({ qr_url: qr.link }, key));
    await expect.poll(() => waiting.mock.calls.length).toBe(3);
    release();
    for (const answer of await Promise.all([first, ...joined]))
      expect(codeOf(answer)).toBe('503 gateway_busy');
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
    const { json } = await partner.post('/v1/qr/resolve', { body: { qr_url: qr.link } });
    const { qrc_id, recipient, purpose } = qr;
    expect(json).toEqual({
      ...{ qrc_id, recipient, purpose, amount_rub: '150.00', currency: 'RUB', payable: true },
      request_id: json.request_id,
    });
    expect(await balance()).toBe(full);
    expect((await partner.pay({ qr_url: qr.link })).json.status).toBe('succeeded');
  });

  /** A valid answer about another code than the one requested. */
  const otherCode = {
    ...{ qrc_id: 'AD10004MV5CJ3D638358RO81129CE63P', scenario: 'C2B', recipient: 'r', recipient_id: 'i' },
    ...{ amount_kopecks: 15_000, purpose: 'p', expires_at: null, fingerprint: 'f' },
  };
  const made = (fields: object) => async () => (await makeQr(simulator, fields)).link as string;
  const faulty = (fault: object) => async () => (await qrWith({ on: 'resolve', ...fault })).link as string;
  const noAmount = '400 unsupported_variable_amount';
  const [unresolvable, unavailable] = ['422 qr_unresolvable', '503 gateway_unavailable'];
  test.each([
    ['a code without an amount', made({ amount_kopecks: null }), noAmount],
    ['an open sum', made({ scenario: 'C2B_OPEN_SUM', amount_kopecks: null }), noAmount],
    ['cash without an invoice', made({ scenario: 'C2B_CASH_REGISTER', amount_kopecks: null }), noAmount],
    ['a subscription', made({ scenario: 'C2B_SUBSCRIPTION_WITH_PAYMENT' }), '400 unsupported_qr'],
    ['an expired code', made({ expires_in_sec: 0 }), '400 invalid_qr'],
    ['a code that nobody knows', async () => newLink(), '400 invalid_qr'],
    ['details that cannot be had', faulty({ kind: 'unresolvable' }), unresolvable],
    ['a gateway out of service', faulty({ kind: 'unavailable' }), unavailable],
    ['a gateway that breaks off', faulty({ kind: 'drop_before' }), unavailable],
    ['a gateway that fails', faulty({ kind: 'http_error', status: 500 }), unresolvable],
    ['broken JSON', faulty({ kind: 'broken_json' }), unresolvable],
    ['details of another code', faulty({ kind: 'http_error', status: 200, body: otherCode }), unresolvable],
  ])('%s cannot', async (_case, make, code) => {
    const { partner, balance } = await newCustomer();
    const qr_url = await make();
    for (const answer of [
      await partner.post('/v1/qr/resolve', { body: { qr_url } }),
      await partner.pay({ qr_url }),
    ])
      expect(codeOf(answer)).toBe(code);
    expect(await balance()).toBe(full);
    expect((await partner.get('/v1/payments')).json.data).toEqual([]);
  });

  test.each([
    ['a substituted code', { amount_rub: '150.01' }, {}, 400, 'amount_mismatch', 'differs'],
    ['less than the least', {}, { minKopecks: 15_001n }, 400, 'invalid_request', '150.01 RUB'],
    ['more than the most', {}, { maxKopecks: 14_999n }, 400, 'amount_limit_exceeded', '149.99 RUB'],
    ['more than a day allows', {}, { dailyKopecks: 14_999n }, 403, 'daily_limit_exceeded', 'daily limit'],
  ])('%s is refused', async (_case, body, limits, status, code, message) => {
    const { partnerId, partner } = await newCustomer();
    await setLimits(auditContextOf(pool), partnerId, limits);
    const qr = await qrWith();
    const refused = await partner.pay({ qr_url: qr.link, ...body });
    expect(codeOf(refused)).toBe(`${status} ${code}`);
    expect(refused.json.error.message).toContain(message);
  });

  test('a wrong amount in the resolved QR code is not paid', async () => {
    const { partner, balance } = await newCustomer();
    const qr = await qrWith({ on: 'resolve', kind: 'wrong_amount' });
    const refused = await partner.pay({ qr_url: qr.link, amount_rub: 150 });
    expect(codeOf(refused)).toBe('400 amount_mismatch');
    expect((await partner.pay({ qr_url: qr.link })).json).toMatchObject(failed('gateway_declined'));
    expect(await balance()).toBe(full);
  });

  test('a recipient blocked by id gets nothing', async () => {
    const { partner, balance } = await newCustomer();
    const blocked = 'MB-blocked';
    const qr = await makeQr(simulator, { recipient: 'Ларёк', recipient_id: blocked });
    await blockRecipient(auditContextOf(pool), blocked);
    const key = randomUUID();
    const refused = await partner.pay({ qr_url: qr.link }, key);
    expect(codeOf(refused)).toBe('403 recipient_blocked');
    expect((await partner.post('/v1/qr/resolve', { body: { qr_url: qr.link } })).json.payable).toBe(false);
    expect(await balance()).toBe(full);
    await unblockRecipient(auditContextOf(pool), blocked);
    expect((await partner.pay({ qr_url: qr.link }, key)).json.status).toBe('succeeded');
  });
});

describe('one at a time', () => {
  test('a code in flight is refused to all other live requests, whatever the answer was', async () => {
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
    // The same key is a repeat and never a duplicate; test mode is separate.
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

  test('a code is not blocked by a payment of the same batch that has no money', async () => {
    const poor = await createFundedPartner(pool, 0n);
    const lane = (id: string) => id.charCodeAt(id.length - 1) % 2;
    let rich = await createFundedPartner(pool, 1_000_000_000n);
    while (lane(rich) !== lane(poor)) rich = await createFundedPartner(pool, 1_000_000_000n);
    const opening = await openingsOf(pool, clock);
    const qrcId = randomUUID();
    const openings = [opening(rich), opening(poor, { qrcId }), opening(rich, { qrcId })];
    const verdicts = await Promise.all(openings.map(deps.writer.open));
    const rejected = { partnerId: rich, mode: 'live', outcome: 'rejected', code: 'gateway_busy' } as const;
    for (const { paymentId } of openings) await deps.writer.finish({ ...rejected, paymentId });
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['opened', 'insufficient_balance', 'opened']);
  });
});
