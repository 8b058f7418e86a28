import { describe, expect, test } from 'vitest';
import { revokeKey, setSuspended } from '../../src/partners/index.ts';
import { createPartnerWithKeys, issueKey, partnerAt, startApi } from '../helpers/api.ts';
import { expectError, sendRequest } from '../helpers/raw-http.ts';
import { create, repeat, startAccessWorld } from './access-world.ts';

const { pool, clock, address, audit, newcomer, untilApplied } = await startAccessWorld();
const { partnerId, testKey, liveKey } = await createPartnerWithKeys(pool);

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

describe('a key', () => {
  test('gives access to its own mode', async () => {
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

  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('may follow the scheme %s', async scheme => {
    const headers = { authorization: `${scheme} ${testKey}` };
    expect((await sendRequest(address, { path: '/v1/ping', headers })).status).toBe(200);
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

  test('that is revoked gives no access, and the other keys of the partner still work', async () => {
    const key = await issueKey(pool, partnerId, 'test');
    const partner = partnerAt(address, key);
    expect((await partner.get('/v1/ping')).status).toBe(200);
    await revokeKey(audit, key.split('_')[2]!);
    await untilApplied(key, 'unauthorized');
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

  test('accept calls from these addresses only', async () => {
    expect(await from(address, localKey)).toBe(200);
    expect(await from(address, officeKey)).toBe('403 ip_not_allowed');
  });

  test.each(endpoints)('count for %s %s', async (method, path) => {
    const headers = { authorization: `Bearer ${officeKey}` };
    expectError(await sendRequest(address, { method, path, headers }), 403, 'ip_not_allowed');
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
    ['192.0.2.5, 127.0.0.1', 200],
    ['nonsense', '403 ip_not_allowed'],
    ['192.0.2.5, nonsense', '403 ip_not_allowed'],
    ['', '403 ip_not_allowed'],
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

describe('a suspended partner', () => {
  test('is refused everywhere, in both modes, until it is resumed', async () => {
    const customer = await createPartnerWithKeys(pool);
    await setSuspended(audit, customer.partnerId, true);
    await untilApplied(customer.testKey, 'partner_suspended');
    for (const key of [customer.testKey, customer.liveKey]) {
      for (const [method, path] of endpoints) {
        const headers = { authorization: `Bearer ${key}` };
        expectError(await sendRequest(address, { method, path, headers }), 403, 'partner_suspended');
      }
    }
    await setSuspended(audit, customer.partnerId, false);
    await untilApplied(customer.testKey, 'ok');
    expect((await partnerAt(address, customer.testKey).get('/v1/ping')).status).toBe(200);
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
    await untilApplied(key, 'unauthorized');
    expect((await partnerAt(address, key).get('/v1/ping')).json.error.code).toBe('unauthorized');
  });
});
