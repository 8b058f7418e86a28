import { test as base, describe, expect } from 'vitest';
import { revokeKey, setLimits, setSuspended } from '../../src/partners/index.ts';
import { codeOf, createPartnerWithKeys, issueKey, newLink, partnerAt, startApi } from '../helpers/api.ts';
import { expectError, sendRequest } from '../helpers/raw-http.ts';
import { create, operations, type Partner, repeat, startAccessWorld } from './access-world.ts';

const { pool, clock, address, deps, audit, newcomer, untilApplied } = await startAccessWorld();
const { partnerId, testKey } = await createPartnerWithKeys(pool);

const officeKey = await issueKey(pool, partnerId, 'test', ['192.0.2.0/24', '2001:db8::/32']);
const suspended = await createPartnerWithKeys(pool);
await setSuspended(audit, suspended.partnerId, true);
const test = base.extend('newcomer', () => newcomer());

describe('a key', () => {
  test.each([['GET', '/v1/ping', 'any'] as const, ...operations])(
    'is needed for %s %s, from its address, of a partner that is not suspended',
    async (method, path) => {
      const send = (key?: string) =>
        sendRequest(address, { method, path, headers: key ? { authorization: `Bearer ${key}` } : {} });
      expectError(await send(), 401, 'unauthorized');
      expectError(await send(officeKey), 403, 'ip_not_allowed');
      for (const key of [suspended.testKey, suspended.liveKey])
        expectError(await send(key), 403, 'partner_suspended');
    },
  );

  test.each([
    ['none', ''],
    ['an empty key', 'Bearer '],
    ['another scheme', `Basic ${testKey}`],
    ['a comma', `Bearer ${testKey},`],
    ['a changed secret', `Bearer ${testKey.slice(0, -1)}${testKey.endsWith('0') ? '1' : '0'}`],
    ['a longer secret', `Bearer ${testKey}0`],
    ['the other mode', `Bearer ${testKey.replace('test', 'live')}`],
    ['10 KB', `Bearer ${'x'.repeat(10_000)}`],
  ])('with %s is no key', async (_name, authorization) => {
    const answer = await sendRequest(address, { path: '/v1/ping', headers: { authorization } });
    expectError(answer, 401, 'unauthorized');
  });

  test.each(['bearer', 'BEARER'])('may follow the scheme %s', async scheme => {
    const headers = { authorization: `${scheme} ${testKey}` };
    expect((await sendRequest(address, { path: '/v1/ping', headers })).status).toBe(200);
  });

  test('does not count in the address or in the body', async () => {
    const path = `/v1/quote?api_key=${testKey}&authorization=Bearer%20${testKey}`;
    const body = JSON.stringify({ amount_rub: 1, api_key: testKey });
    const sent = { method: 'POST', path, headers: { 'x-api-key': testKey }, body };
    expectError(await sendRequest(address, sent), 401, 'unauthorized');
  });

  test('that is revoked gives no access, also to a suspended partner; its other keys still work', async () => {
    const { partnerId: id, key, partner } = await newcomer();
    const other = await issueKey(pool, id, 'test');
    const pings = () =>
      Promise.all([partner, partnerAt(address, other)].map(async each => codeOf(await each.get('/v1/ping'))));
    expect(await pings()).toEqual(['200 ok', '200 ok']);
    await revokeKey(audit, key.split('_')[2]!);
    await untilApplied(key, 'unauthorized');
    expect(await pings()).toEqual(['401 unauthorized', '200 ok']);
    await setSuspended(audit, id, true);
    await untilApplied(other, 'partner_suspended');
    expect(await pings()).toEqual(['401 unauthorized', '403 partner_suspended']);
  });
});

describe('allowed addresses', async () => {
  const behindProxy = await startApi({ pool, clock, trustProxy: ['127.0.0.1'] });
  const behindAnother = await startApi({ pool, clock, trustProxy: ['10.0.0.0/8'] });
  const localKey = await issueKey(pool, partnerId, 'test', ['127.0.0.1']);
  const from = async (at: string, key: string, forwarded?: string) => {
    const headers: Record<string, string> = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
    const answer = await partnerAt(at, key).get('/v1/ping', { headers });
    return answer.status === 200 ? 200 : codeOf(answer);
  };

  test('accept calls from these addresses only', async () => {
    expect(await from(address, localKey)).toBe(200);
    expect(await from(address, officeKey)).toBe('403 ip_not_allowed');
  });

  test('ignore X-Forwarded-For of a caller that is no trusted proxy', async () => {
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
    ['192.0.2.5, nonsense', '403 ip_not_allowed'],
  ])('behind a trusted proxy see %j as %s', async (forwarded, expected) => {
    expect(await from(behindProxy.address, officeKey, forwarded)).toBe(expected);
  });

  test('see the proxy itself when it sends no X-Forwarded-For', async () => {
    expect(await from(behindProxy.address, officeKey)).toBe('403 ip_not_allowed');
    expect(await from(behindProxy.address, localKey)).toBe(200);
  });

  test('accept no other header as the address', async () => {
    const headers = { 'x-real-ip': '192.0.2.5', forwarded: 'for=192.0.2.5', 'cf-connecting-ip': '192.0.2.5' };
    expect((await partnerAt(behindProxy.address, officeKey).get('/v1/ping', { headers })).status).toBe(403);
  });
});

test('a suspended partner is resumed', async () => {
  await setSuspended(audit, suspended.partnerId, false);
  await untilApplied(suspended.testKey, 'ok');
  expect((await partnerAt(address, suspended.testKey).get('/v1/ping')).status).toBe(200);
});

const ping = async (partner: Partner) => (await partner.get('/v1/ping')).status;

/** How many of the calls in a row passed; the refused ones must be the last. */
async function allowed(times: number, call: () => Promise<number>) {
  const statuses = await repeat(times, call);
  const first = statuses.indexOf(429);
  if (first >= 0) expect(new Set(statuses.slice(first))).toEqual(new Set([429]));
  return first < 0 ? times : first;
}

describe('the bucket for creation', () => {
  test('holds 10, fills by 3 a second and not beyond 10, and passes a caller that waits for Retry-After', async () => {
    const { partner } = await newcomer();
    expect(await allowed(11, () => create(partner))).toBe(10);
    const refused = await partner.pay({ qr_url: newLink(10_000) });
    expect(codeOf(refused)).toBe('429 rate_limited');
    expect(refused.headers.get('retry-after')).toBe('1');
    clock.advance(333);
    expect(await allowed(1, () => create(partner))).toBe(0);
    clock.advance(1);
    expect(await allowed(2, () => create(partner))).toBe(1);
    clock.advance(1_000);
    expect(await allowed(4, () => create(partner))).toBe(3);
    clock.advance(1_000);
    expect((await partner.pay({ qr_url: newLink(10_000) })).status).toBe(200);
    clock.advance(3_600_000);
    expect(await allowed(12, () => create(partner))).toBe(10);
  });

  test('is not used by other requests, nor by callers without access', async () => {
    const { partnerId: id, partner } = await newcomer();
    const foreign = partnerAt(address, await issueKey(pool, id, 'test', ['192.0.2.1']));
    expect(await repeat(12, () => create(foreign))).toEqual(Array(12).fill(403));
    expect(await allowed(21, () => ping(partner))).toBe(20);
    expect(await allowed(11, () => create(partner))).toBe(10);
  });
});

describe('the bucket for everything else', () => {
  test('holds 20, fills by 20 a second, and not beyond 20', async ({ newcomer: { partner } }) => {
    expect(await allowed(22, () => ping(partner))).toBe(20);
    expect((await partner.get('/v1/ping')).headers.get('retry-after')).toBe('1');
    clock.advance(49);
    expect(await ping(partner)).toBe(429);
    clock.advance(1);
    expect(await allowed(2, () => ping(partner))).toBe(1);
    clock.advance(3_600_000);
    expect(await allowed(22, () => ping(partner))).toBe(20);
  });

  test('is one for all these endpoints', async ({ newcomer: { partner } }) => {
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

// That it holds for many at once: test/partners/rate-limit.test.ts.
describe('a bucket', () => {
  test('is one for all keys of a partner and mode, and for nothing else', async () => {
    const [{ partnerId: id, partner }, other] = [await newcomer(), await newcomer()];
    const second = partnerAt(address, await issueKey(pool, id, 'test'));
    const live = partnerAt(address, await issueKey(pool, id, 'live'));
    await repeat(10, () => create(partner));
    expect(await create(second)).toBe(429);
    expect(await allowed(11, () => create(live))).toBe(10);
    expect(await create(other.partner)).not.toBe(429);
  });

  test('is shared by two services on one database', async ({ newcomer: { key, partner } }) => {
    const elsewhere = partnerAt((await startApi({ pool, clock })).address, key);
    await repeat(6, () => create(partner));
    expect(await allowed(6, () => create(elsewhere))).toBe(4);
    expect(await create(partner)).toBe(429);
  });

  test('follows changes of the limits of the partner', async () => {
    const { partnerId: id, key, partner } = await newcomer();
    await repeat(10, () => create(partner));
    const changes = { createRps: 5, createBurst: 15, otherRps: 7 };
    await setLimits(audit, id, changes);
    const current = async () => {
      const known = await deps.authenticator.authenticate({ key, address: '127.0.0.1' });
      return known.outcome === 'ok' && known.limits;
    };
    await clock.until(async () => expect(await current()).toMatchObject(changes));
    clock.advance(1_000);
    expect(await allowed(7, () => create(partner))).toBe(5);
    clock.advance(60_000);
    expect(await allowed(17, () => create(partner))).toBe(15);
    expect(await allowed(9, () => ping(partner))).toBe(7);
  });
});
