import { describe, expect, test } from 'vitest';
import type { Id } from '../../src/base/ids.ts';
import { createPartner, type Limits, revokeKey, setLimits, setSuspended } from '../../src/partners/index.ts';
import { createCustomer, issueKey, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { expectError, sendRequest } from '../helpers/raw.ts';

const { pool } = await createDatabase();
const clock = manualClock();
await setRate(pool, clock);
const { address, deps } = await startApi({ pool, clock });
const audit = auditContextOf(pool);
const { partnerId, testKey, liveKey } = await createCustomer(pool);

const endpoints = [
  ['GET', '/v1/ping'],
  ['GET', '/v1/balance'],
  ['GET', '/v1/rate'],
  ['POST', '/v1/quote'],
  ['POST', '/v1/qr/resolve'],
  ['POST', '/v1/payments'],
  ['GET', '/v1/payments'],
  ['GET', '/v1/payments/pay_01m7ehqr39e00aq7xw60wbe32j'],
] as const;

/** Waits until this process has heard of a change to the partner. */
const untilHeard = (key: string, outcome: string) =>
  expect
    .poll(async () => (await deps.authenticator.authenticate({ key, address: '127.0.0.1' })).outcome, {
      interval: 1,
    })
    .toBe(outcome);

describe('a key', () => {
  test('of either mode opens its own door', async () => {
    expect((await partnerAt(address, testKey).get('/v1/ping')).json).toMatchObject({
      partner_id: partnerId,
      mode: 'test',
    });
    expect((await partnerAt(address, liveKey).get('/v1/ping')).json).toMatchObject({
      partner_id: partnerId,
      mode: 'live',
    });
  });

  test.each(endpoints)('is needed for %s %s', async (method, path) => {
    expectError(await sendRequest(address, { method, path }), 401, 'unauthorized');
  });

  test.each([
    ['none', ''],
    ['no scheme', testKey],
    ['no key', 'Bearer'],
    ['an empty key', 'Bearer '],
    ['another scheme', `Basic ${testKey}`],
    ['two keys', `Bearer ${testKey} ${testKey}`],
    ['a comma', `Bearer ${testKey},`],
    ['quotes', `Bearer "${testKey}"`],
    ['a changed secret', `Bearer ${testKey.slice(0, -1)}${testKey.endsWith('0') ? '1' : '0'}`],
    ['a cut secret', `Bearer ${testKey.slice(0, -1)}`],
    ['a longer secret', `Bearer ${testKey}0`],
    ['the other mode', `Bearer ${testKey.replace('test', 'live')}`],
    ['capitals', `Bearer ${testKey.toUpperCase()}`],
    ['an unknown key', `Bearer svc_test_${'0'.repeat(12)}_${'0'.repeat(48)}`],
    ['letters that are not ASCII', `Bearer ${testKey}é`],
    ['10 KB', `Bearer ${'x'.repeat(10_000)}`],
  ])('with %s is no key', async (_name, authorization) => {
    const answer = await sendRequest(address, { path: '/v1/ping', headers: { authorization } });
    expectError(answer, 401, 'unauthorized');
  });

  test('does not count in the address or in the body', async () => {
    const path = `/v1/quote?api_key=${testKey}&authorization=Bearer%20${testKey}`;
    const answer = await sendRequest(address, {
      method: 'POST',
      path,
      headers: { 'x-api-key': testKey },
      body: JSON.stringify({ amount_rub: 1, api_key: testKey }),
    });
    expectError(answer, 401, 'unauthorized');
  });

  test('that is revoked is worth nothing, and the others of the partner go on', async () => {
    const key = await issueKey(pool, partnerId, 'test');
    const partner = partnerAt(address, key);
    expect((await partner.get('/v1/ping')).status).toBe(200);
    await revokeKey(audit, key.split('_')[2]!);
    await untilHeard(key, 'unauthorized');
    const refused = await partner.get('/v1/ping');
    expect({ status: refused.status, code: refused.json.error.code }).toEqual({
      status: 401,
      code: 'unauthorized',
    });
    expect((await partnerAt(address, testKey).get('/v1/ping')).status).toBe(200);
  });
});

describe('allowed addresses', async () => {
  const behindProxy = await startApi({ pool, clock, trustProxy: ['127.0.0.1'] });
  const behindAnother = await startApi({ pool, clock, trustProxy: ['10.0.0.0/8'] });
  const officeKey = await issueKey(pool, partnerId, 'test', ['192.0.2.0/24', '2001:db8::/32']);
  const localKey = await issueKey(pool, partnerId, 'test', ['127.0.0.1']);
  const from = async (at: string, key: string, forwarded?: string) => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    const { status, json } = await partnerAt(at, key).get('/v1/ping', {
      headers: headers as Record<string, string>,
    });
    return status === 200 ? 200 : `${status} ${json.error.code}`;
  };

  test('let in who calls from one, and nobody else', async () => {
    expect(await from(address, localKey)).toBe(200);
    expect(await from(address, officeKey)).toBe('403 ip_not_allowed');
  });

  test.each(endpoints)('count for %s %s', async (method, path) => {
    const headers = { authorization: `Bearer ${officeKey}` };
    expectError(await sendRequest(address, { method, path, headers }), 403, 'ip_not_allowed');
  });

  test('are not fooled by X-Forwarded-For of somebody who is no trusted proxy', async () => {
    for (const at of [address, behindAnother.address]) {
      expect(await from(at, officeKey, '192.0.2.5')).toBe('403 ip_not_allowed');
      expect(await from(at, localKey, '198.51.100.1')).toBe(200);
    }
  });

  test.each([
    ['192.0.2.5', 200],
    ['2001:db8::5', 200],
    ['198.51.100.1', '403 ip_not_allowed'],
    ['198.51.100.1, 192.0.2.5', 200],
    ['192.0.2.5, 198.51.100.1', '403 ip_not_allowed'],
    ['192.0.2.5, 127.0.0.1', 200],
    ['nonsense', '403 ip_not_allowed'],
    ['192.0.2.5, nonsense', '403 ip_not_allowed'],
    ['', '403 ip_not_allowed'],
  ])('behind a trusted proxy see %j as %s', async (forwarded, expected) => {
    expect(await from(behindProxy.address, officeKey, forwarded)).toBe(expected);
  });

  test('see the proxy itself when it forwards for nobody', async () => {
    expect(await from(behindProxy.address, officeKey)).toBe('403 ip_not_allowed');
    expect(await from(behindProxy.address, localKey)).toBe(200);
  });

  test('take nothing else for an address', async () => {
    const headers = { 'x-real-ip': '192.0.2.5', forwarded: 'for=192.0.2.5', 'cf-connecting-ip': '192.0.2.5' };
    expect((await partnerAt(behindProxy.address, officeKey).get('/v1/ping', { headers })).status).toBe(403);
  });
});

describe('a suspended partner', () => {
  test('is refused everywhere, with both modes, and let in again when resumed', async () => {
    const customer = await createCustomer(pool);
    await setSuspended(audit, customer.partnerId, true);
    await untilHeard(customer.testKey, 'partner_suspended');
    for (const key of [customer.testKey, customer.liveKey]) {
      for (const [method, path] of endpoints) {
        const headers = { authorization: `Bearer ${key}` };
        expectError(await sendRequest(address, { method, path, headers }), 403, 'partner_suspended');
      }
    }
    await setSuspended(audit, customer.partnerId, false);
    await untilHeard(customer.testKey, 'ok');
    expect((await partnerAt(address, customer.testKey).get('/v1/ping')).status).toBe(200);
  });
});

/** A partner with the limits of the contract. */
async function newcomer() {
  const { partnerId } = await createPartner(audit, 'Newcomer');
  const key = await issueKey(pool, partnerId, 'test');
  return { partnerId, key, partner: partnerAt(address, key) };
}

async function changeLimits(id: Id<'prt'>, key: string, changes: Partial<Limits>) {
  await setLimits(audit, id, changes);
  const current = async () => {
    const known = await deps.authenticator.authenticate({ key, address: '127.0.0.1' });
    return known.outcome === 'ok' && known.limits;
  };
  await expect.poll(current, { interval: 1 }).toMatchObject(changes);
}

type Partner = ReturnType<typeof partnerAt>;
/** A creation that is refused after the bucket was asked. */
const create = async (partner: Partner) => (await partner.post('/v1/payments', { body: {} })).status;
const ping = async (partner: Partner) => (await partner.get('/v1/ping')).status;
async function repeat(times: number, call: () => Promise<number>) {
  const statuses: number[] = [];
  for (let time = 0; time < times; time++) statuses.push(await call());
  return statuses;
}
/** How many of so many calls in a row went through; those that did not came last. */
async function allowed(times: number, call: () => Promise<number>) {
  const statuses = await repeat(times, call);
  const first = statuses.indexOf(429);
  if (first >= 0) expect(new Set(statuses.slice(first))).toEqual(new Set([429]));
  return first < 0 ? times : first;
}

describe('the bucket for creation', () => {
  test('holds 10, and then says when to come back', async () => {
    const { partner } = await newcomer();
    expect(await allowed(10, () => create(partner))).toBe(10);
    const refused = await partner.pay({ qr_url: newLink(10_000) });
    expect({ status: refused.status, code: refused.json.error.code }).toEqual({
      status: 429,
      code: 'rate_limited',
    });
    expect(refused.headers.get('retry-after')).toBe('1');
  });

  test('lets whoever waits as long as it says go on', async () => {
    const { partner } = await newcomer();
    await repeat(10, () => create(partner));
    const refused = await partner.post('/v1/payments', { body: {} });
    clock.advance(Number(refused.headers.get('retry-after')) * 1_000);
    expect((await partner.pay({ qr_url: newLink(10_000) })).status).toBe(200);
  });

  test('fills by 3 a second, and not beyond 10', async () => {
    const { partner } = await newcomer();
    await repeat(10, () => create(partner));
    clock.advance(333);
    expect(await allowed(1, () => create(partner))).toBe(0);
    clock.advance(1);
    expect(await allowed(2, () => create(partner))).toBe(1);
    clock.advance(1_000);
    expect(await allowed(4, () => create(partner))).toBe(3);
    clock.advance(3_600_000);
    expect(await allowed(12, () => create(partner))).toBe(10);
  });

  test('holds for 10 at the same time', async () => {
    const { partner } = await newcomer();
    const statuses = await Promise.all(Array.from({ length: 14 }, () => create(partner)));
    expect(statuses.filter(status => status === 429)).toHaveLength(4);
  });

  test('is not touched by other requests', async () => {
    const { partner } = await newcomer();
    await repeat(20, () => ping(partner));
    expect(await ping(partner)).toBe(429);
    expect(await allowed(11, () => create(partner))).toBe(10);
  });
});

describe('the bucket for everything else', () => {
  test('holds 20, fills by 20 a second, and not beyond 20', async () => {
    const { partner } = await newcomer();
    expect(await allowed(22, () => ping(partner))).toBe(20);
    clock.advance(49);
    expect(await ping(partner)).toBe(429);
    clock.advance(1);
    expect(await allowed(2, () => ping(partner))).toBe(1);
    clock.advance(500);
    expect(await allowed(12, () => ping(partner))).toBe(10);
    clock.advance(3_600_000);
    expect(await allowed(22, () => ping(partner))).toBe(20);
  });

  test('says in whole seconds when to come back', async () => {
    const { partner } = await newcomer();
    await repeat(20, () => ping(partner));
    expect((await partner.get('/v1/ping')).headers.get('retry-after')).toBe('1');
  });

  test('holds for 20 at the same time', async () => {
    const { partner } = await newcomer();
    const statuses = await Promise.all(Array.from({ length: 25 }, () => ping(partner)));
    expect(statuses.filter(status => status === 200)).toHaveLength(20);
  });

  test('is one for all of them', async () => {
    const { partner } = await newcomer();
    const calls = [
      () => partner.get('/v1/ping'),
      () => partner.get('/v1/balance'),
      () => partner.get('/v1/rate'),
      () => partner.get('/v1/payments'),
      () => partner.get('/v1/payments/pay_01m7ehqr39e00aq7xw60wbe32j'),
      () => partner.post('/v1/quote', { body: { amount_rub: 1 } }),
      () => partner.post('/v1/qr/resolve', { body: { qr_url: newLink(10_000) } }),
    ];
    await repeat(13, () => ping(partner));
    for (const call of calls) expect((await call()).status).not.toBe(429);
    for (const call of calls) expect((await call()).status).toBe(429);
  });
});

describe('a bucket', () => {
  test('is one for all keys of a partner and mode', async () => {
    const { partnerId: id, partner } = await newcomer();
    const second = partnerAt(address, await issueKey(pool, id, 'test'));
    await repeat(10, () => create(partner));
    expect(await create(second)).toBe(429);
  });

  test('of live mode is another than that of test mode', async () => {
    const { partnerId: id, partner } = await newcomer();
    const live = partnerAt(address, await issueKey(pool, id, 'live'));
    await repeat(10, () => create(partner));
    expect(await allowed(11, () => create(live))).toBe(10);
  });

  test('of one partner is another than that of the next', async () => {
    const [first, second] = [await newcomer(), await newcomer()];
    await repeat(11, () => create(first.partner));
    expect(await create(second.partner)).not.toBe(429);
  });

  test('is shared by two services on one database', async () => {
    const { key, partner } = await newcomer();
    const elsewhere = partnerAt((await startApi({ pool, clock })).address, key);
    await repeat(6, () => create(partner));
    expect(await allowed(6, () => create(elsewhere))).toBe(4);
    expect(await create(partner)).toBe(429);
    const statuses = await repeat(40, () => ping(Math.random() < 0.5 ? partner : elsewhere));
    const passed = statuses.filter(status => status === 200).length;
    // Each service may sit on a token that it fetched ahead, never on one that is not there.
    expect(passed).toBeGreaterThanOrEqual(19);
    expect(passed).toBeLessThanOrEqual(20);
  });

  test('gives nothing to those who may not call', async () => {
    const { partnerId: id, partner } = await newcomer();
    const foreign = partnerAt(address, await issueKey(pool, id, 'test', ['192.0.2.1']));
    expect(await repeat(12, () => create(foreign))).toEqual(Array(12).fill(403));
    expect(await allowed(11, () => create(partner))).toBe(10);
  });

  test('grows and shrinks with the limits of the partner', async () => {
    const { partnerId: id, key, partner } = await newcomer();
    await repeat(10, () => create(partner));
    await changeLimits(id, key, { createRps: 5, createBurst: 15, otherRps: 7 });
    clock.advance(1_000);
    expect(await allowed(7, () => create(partner))).toBe(5);
    clock.advance(60_000);
    expect(await allowed(17, () => create(partner))).toBe(15);
    expect(await allowed(9, () => ping(partner))).toBe(7);
    clock.advance(60_000);
    await changeLimits(id, key, { createRps: 1, createBurst: 2 });
    expect(await allowed(4, () => create(partner))).toBe(2);
  });
});

describe('the order of checks', () => {
  test('is key, address, suspension, rate limit, body', async () => {
    const { partnerId: id, partner } = await newcomer();
    await repeat(10, () => create(partner));
    const proxied = await startApi({ pool, clock, trustProxy: ['127.0.0.1'] });
    const key = await issueKey(pool, id, 'test', ['192.0.2.1']);
    const send = async (token: string, forwarded: string) => {
      const { status, json } = await partnerAt(proxied.address, token).post('/v1/payments', {
        raw: '{broken',
        headers: { 'x-forwarded-for': forwarded },
      });
      return json.error?.code ?? status;
    };
    await setSuspended(audit, id, true);
    await expect.poll(() => send(key, '192.0.2.1'), { interval: 1 }).toBe('partner_suspended');
    expect(await send(`${key}0`, '198.51.100.1')).toBe('unauthorized');
    expect(await send(key, '198.51.100.1')).toBe('ip_not_allowed');
    await setSuspended(audit, id, false);
    await expect.poll(() => send(key, '192.0.2.1'), { interval: 1 }).toBe('rate_limited');
    clock.advance(1_000);
    expect(await send(key, '192.0.2.1')).toBe(422);
  });

  test('puts a revoked key before everything', async () => {
    const { partnerId: id, key } = await newcomer();
    await setSuspended(audit, id, true);
    await revokeKey(audit, key.split('_')[2]!);
    await untilHeard(key, 'unauthorized');
    expect((await partnerAt(address, key).get('/v1/ping')).json.error.code).toBe('unauthorized');
  });
});
