import { test as base, describe, expect } from 'vitest';
import { blockRecipient, setMaintenance, unblockRecipient } from '../../src/controls/index.ts';
import { setLimits, setSuspended } from '../../src/partners/index.ts';
import { codeOf, newLink, partnerAt, startApi } from '../helpers/api.ts';
import { expectError, sendRequest } from '../helpers/raw-http.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { isReplay, startTestModeWorld } from './test-mode-world.ts';

const { pool, clock, address, deps, audit, newPartner, balanceOf, expectNothingHappened } =
  await startTestModeWorld();
const test = base.extend('partner', () => newPartner());

describe('an idempotency key', () => {
  const send = (keys: string | string[] | undefined, testKey: string) =>
    sendRequest(address, {
      method: 'POST',
      path: '/v1/payments',
      headers: {
        authorization: `Bearer ${testKey}`,
        ...(keys === undefined ? {} : { 'idempotency-key': keys }),
      },
      body: JSON.stringify({ qr_url: newLink(10_000) }),
    });

  test('is required', async () => {
    expectError(await send(undefined, (await newPartner()).testKey), 400, 'missing_idempotency_key');
  });

  test.each([
    ['is blank', '   '],
    ['has 256 characters', 'x'.repeat(256)],
    ['has a letter that is not ASCII', 'café'],
    ['has a tab', 'a\tb'],
    ['comes twice', ['one', 'one']],
    ['comes twice, once empty', ['', 'one']],
  ])('that %s is an invalid request, and nothing is paid', async (_name, keys) => {
    const partner = await newPartner();
    const sent = typeof keys === 'string' ? Buffer.from(keys).toString('latin1') : keys;
    expectError(await send(sent, partner.testKey), 400, 'invalid_request');
    await expectNothingHappened(partner);
  });

  test('may be anything else, and is case-sensitive', async ({ partner }) => {
    for (const key of ['x', 'X', '~!@#$%^&*()_+ `{}|:"<>?', 'a, b', 'x'.repeat(255), '__proto__']) {
      const body = { qr_url: newLink(10_000) };
      const paid = await partner.pay(body, key);
      expect([codeOf(paid), isReplay(paid)]).toEqual(['200 succeeded', false]);
      expect((await partner.pay(body, key)).text).toBe(paid.text);
    }
  });
});

describe('a repeat', () => {
  test('gives the same payment again without limit, as a replay, and debits once', async ({ partner }) => {
    const body = { qr_url: newLink(10_000), amount_rub: '100', external_id: 'order', metadata: { a: 1 } };
    const first = await partner.pay(body, 'same');
    const again = await partner.pay(body, 'same');
    expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect((await partner.get('/v1/payments')).json.data).toEqual([first.json]);
    clock.advance(400 * 86_400_000);
    const elsewhere = partnerAt((await startApi({ pool, clock })).address, partner.testKey);
    for (const muchLater of [await partner.pay(body, 'same'), await elsewhere.pay(body, 'same')])
      expect([muchLater.text, isReplay(muchLater)]).toEqual([first.text, true]);
    expect((await balanceOf(partner)).settledMicroUsdt).toBe(1_081_082n);
  });

  test('of a payment that failed gives the failed payment, and pays nothing', async ({ partner }) => {
    const body = { qr_url: newLink(10_001) };
    const first = await partner.pay(body, 'failed');
    const again = await partner.pay(body, 'failed');
    expect([codeOf(first), codeOf(again), isReplay(again)]).toEqual(['200 failed', '200 failed', true]);
    expect(again.text).toBe(first.text);
  });

  test('gives the payment as it is now', async ({ partner }) => {
    const body = { qr_url: newLink(10_002) };
    const first = await partner.pay(body, 'now');
    const meanwhile = await partner.pay(body, 'now');
    expect([codeOf(first), codeOf(meanwhile)]).toEqual(['200 processing', '200 processing']);
    expect(meanwhile.json).toEqual(first.json);
    clock.advance(30_000);
    await recoverDuePayments(deps);
    const later = await partner.pay(body, 'now');
    expect([codeOf(later), later.json.id, isReplay(later)]).toEqual(['200 succeeded', first.json.id, true]);
  });

  test('passes maintenance, a stale rate, a blocked recipient and every limit', async ({ partner }) => {
    const body = { qr_url: newLink(10_000) };
    const first = await partner.pay(body, 'closed');
    const { partnerId } = partner;
    const closed = { minKopecks: 1_000_000n, maxKopecks: 1_000_001n, dailyKopecks: 0n, concurrent: 1 };
    await setLimits(audit, partnerId, closed);
    await setMaintenance(audit, true);
    await blockRecipient(audit, 'Test recipient');
    clock.advance(1_000_000);
    const again = await partner.pay(body, 'closed');
    await unblockRecipient(audit, 'Test recipient');
    await setMaintenance(audit, false);
    expect([again.text, isReplay(again)]).toEqual([first.text, true]);
  });

  test('does not pass a suspension, a malformed body or the rate limit', async ({ partner }) => {
    const body = { qr_url: newLink(10_000) };
    await partner.pay(body, 'known');
    expect((await partner.pay({ ...body, amount_rub: 'x' }, 'known')).status).toBe(422);
    await setSuspended(audit, partner.partnerId, true);
    const repeated = () => expect.poll(async () => codeOf(await partner.pay(body, 'known')), { interval: 1 });
    await repeated().toBe('403 partner_suspended');
    await setSuspended(audit, partner.partnerId, false);
    await setLimits(audit, partner.partnerId, { createRps: 1, createBurst: 1 });
    // Tokens fetched ahead under the old limits expire after a second.
    clock.advance(1_000);
    await repeated().toBe('429 rate_limited');
  });
});

describe('the same body', () => {
  const id = 'AD10004MV5CJ3D638358RO81129CE63P';
  const link = `https://qr.nspk.ru/${id}?type=02&bank=100000000004&sum=10000&cur=RUB`;
  const original = `{"qr_url":"${link}","amount_rub":"100","external_id":"order","metadata":{"a":1.10,"b":{"c":[1,2],"d":null}}}`;
  const payRaw = async (partner: Awaited<ReturnType<typeof newPartner>>, raw: string) =>
    partner.post('/v1/payments', { raw, headers: { 'idempotency-key': 'meaning' } });

  test.each([
    [
      'another order of fields',
      `{"metadata":{"b":{"d":null,"c":[1,2]},"a":1.10},"external_id":"order","amount_rub":"100","qr_url":"${link}"}`,
    ],
    ['an amount of "100.00"', original.replace('"100"', '"100.00"')],
    ['an amount of 100.00', original.replace('"100"', '100.00')],
    ['a number written differently', original.replace('1.10', '11e-1')],
    ['spaces', original.replaceAll(':{', ' :\n{ ')],
    ['escapes', original.replace('"order"', '"\\u006frder"')],
    ['&amp; in the link', original.replaceAll('&', '&amp;')],
    ['the link of a banking app', original.replace('https://', 'bank100000000004://')],
    ['spaces around the link', original.replace(link, ` ${link} `)],
    ['fields that nobody knows', original.replace('{', '{"unknown":1,')],
  ])('may come with %s', async (_name, raw) => {
    const partner = await newPartner();
    const first = await payRaw(partner, original);
    expect(codeOf(first)).toBe('200 succeeded');
    const again = await payRaw(partner, raw);
    expect([again.text, isReplay(again)]).toEqual([first.text, true]);
  });

  test('may name absent fields as null', async ({ partner }) => {
    const first = await payRaw(partner, `{"qr_url":"${link}"}`);
    for (const raw of [
      `{"qr_url":"${link}","amount_rub":null,"external_id":null,"metadata":null}`,
      `{"qr_url":"${link}","metadata":{}}`,
    ])
      expect((await payRaw(partner, raw)).text).toBe(first.text);
  });

  test.each([
    ['another code', original.replace(id, id.replace('63P', '63Q'))],
    ['another sum in the link', original.replace('sum=10000', 'sum=10100')],
    ['another amount', original.replace('"100"', '"100.01"')],
    ['another order', original.replace('"order"', '"order "')],
    ['no order', original.replace('"external_id":"order",', '')],
    ['another value in the metadata', original.replace('1.10', '1.11')],
    ['one more field in the metadata', original.replace('"a":1.10', '"a":1.10,"z":null')],
    ['another order in an array', original.replace('[1,2]', '[2,1]')],
    ['no metadata', original.replace(/,"metadata":.*/, '}')],
    ['a link that is none', original.replace(link, 'nonsense')],
  ])('is different with %s: a conflict that changes nothing', async (_name, raw) => {
    const partner = await newPartner();
    const first = await payRaw(partner, original);
    const balance = await balanceOf(partner);
    expect(codeOf(await payRaw(partner, raw))).toBe('409 idempotency_conflict');
    expect(await balanceOf(partner)).toEqual(balance);
    expect((await payRaw(partner, original)).text).toBe(first.text);
  });
});
