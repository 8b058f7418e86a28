import { Agent } from 'node:http';
import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { createServer } from '../../src/api/index.ts';
import { newLink, partnerAt } from '../helpers/api.ts';
import { expectError, sendRaw, sendRequest } from '../helpers/raw-http.ts';
import { startHttpWorld } from './http-world.ts';

const { address, deps, partner, authorization } = await startHttpWorld();
const unknownId = 'pay_01m7ehqr39e00aq7xw60wbe32j';

describe('the request id', () => {
  test('is in the header and the body of an answer or a refusal, and only in the header if it is malformed', async () => {
    const answers = [
      await partner.get('/v1/ping'),
      await partner.get('/v1/balance'),
      await partner.get('/v1/rate'),
      await partner.get('/v1/payments'),
      await partner.post('/v1/quote', { body: { amount_rub: '100' } }),
      await partner.post('/v1/qr/resolve', { body: { qr_url: newLink(10_000) } }),
      await partnerAt(address, 'nobody').get('/v1/ping'),
      await partner.get(`/v1/payments/${unknownId}`),
      await partner.get('/v1/nothing'),
      await partner.post('/v1/payments', { body: { qr_url: newLink(10_000) } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([...Array(6).fill(200), 401, 404, 404, 400]);
    for (const { headers, json } of answers)
      expect((json.error ?? json).request_id).toBe(headers.get('x-request-id'));
    const malformed = await partner.post('/v1/quote', { body: {} });
    expect([malformed.status, Object.keys(malformed.json)]).toEqual([422, ['detail']]);
    expect(malformed.headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('is only in the header of a payment, whose fields are those of the contract', async () => {
    const paid = await partner.pay({ qr_url: newLink(10_000) });
    expect(paid.headers.get('x-request-id')).toMatch(/^req_/);
    const fields =
      'id object mode status status_detail external_id recipient amount_rub amount_usdt rate currency ' +
      'settlement_currency created_at settled_at error metadata';
    expect(Object.keys(paid.json)).toEqual(fields.split(' '));
    const got = await partner.get(`/v1/payments/${paid.json.id}`);
    expect(Object.keys(got.json)).toEqual(fields.split(' '));
    expect(got.headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('is a new one every time, whatever id the caller sends', async () => {
    const headers = { 'x-request-id': unknownId.replace('pay', 'req'), 'request-id': 'mine' };
    const first = await partner.get('/v1/ping', { headers });
    const second = await partner.get('/v1/ping', { headers });
    expect(new Set([headers['x-request-id'], first.json.request_id, second.json.request_id]).size).toBe(3);
  });

  test.each(['/healthz', '/readyz', '/openapi.json', '/docs/'])('is on %s', async path => {
    const response = await fetch(`${address}${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-7][0-9a-z]{25}$/);
    if (path.endsWith('z')) expect(await response.json()).toEqual({ ok: true });
  });
});

describe('an unknown path or method', () => {
  test.each([
    ['GET', '/metrics'],
    ['GET', '/index.html'],
    ['GET', '/v2/ping'],
    ['GET', '/v1/ping/'],
    ['GET', '/V1/PING'],
    ['GET', '//v1/ping'],
    ['GET', `/v1/payments/${unknownId}/refunds`],
    ['GET', '/v1/%zz'],
    ['GET', `/v1/${'x'.repeat(8_000)}`],
    ['PUT', '/v1/ping'],
    ['DELETE', `/v1/payments/${unknownId}`],
    ['OPTIONS', '/v1/payments'],
    ['TRACE', '/v1/ping'],
    ['QUERY', '/v1/payments'],
  ])('%s %s is not found', async (method, path) => {
    expectError(await sendRequest(address, { method, path, headers: { authorization } }), 404, 'not_found');
  });

  test.each(['/v1/ping', '/v1/payments', '/v1/nothing'])('HEAD %s is not found', async path => {
    const answer = await sendRequest(address, { method: 'HEAD', path, headers: { authorization } });
    expect(answer).toMatchObject({ status: 404, text: '' });
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
  });

  test('is not found before the key or the body is checked', async () => {
    expectError(await sendRequest(address, { path: '/v1/nothing' }), 404, 'not_found');
    const headers = { 'content-type': 'application/json' };
    for (const body of ['{', 'x'.repeat(70_000), ''])
      expectError(
        await sendRequest(address, { method: 'POST', path: '/v1/nothing', headers, body }),
        ...([404, 'not_found'] as const),
      );
  });
});

const everywhere = ['/openapi.json', '/healthz', '/v1/ping', '/nothing', '/v1/%zz'];
test.each(everywhere)('the answer of %s is taken for no other type and runs no script', async path => {
  const { headers } = await fetch(`${address}${path}`);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; base-uri/);
});

describe('a connection', () => {
  test('stays open after every kind of error', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    agent.on('free', socket => sockets.add(socket));
    const json = { authorization, 'content-type': 'application/json' };
    const calls = [
      { path: '/v1/ping', headers: { authorization } },
      { path: '/v1/ping' },
      { path: '/v1/nothing' },
      { method: 'POST', path: '/v1/nothing', body: '{"a":1}' },
      { method: 'POST', path: '/v1/payments', body: '{"a":1}' },
      { method: 'POST', path: '/v1/quote', headers: json, body: '{' },
      { method: 'POST', path: '/v1/quote', headers: json, body: '{}' },
      { method: 'POST', path: '/v1/payments', headers: json, body: `{"qr_url":"${newLink(10_000)}"}` },
      { path: `/v1/payments/${unknownId}`, headers: { authorization } },
      { path: '/v1/ping', headers: { authorization } },
    ];
    const statuses: number[] = [];
    for (const call of calls) statuses.push((await sendRequest(address, { ...call, agent })).status);
    agent.destroy();
    expect(statuses).toEqual([200, 401, 404, 404, 401, 422, 422, 400, 404, 200]);
    expect(sockets.size).toBe(1);
  });

  test('with two keys uses the first', async () => {
    const twice = (first: string, second: string) =>
      sendRaw(
        address,
        `GET /v1/ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${first}\r\nAuthorization: ${second}\r\n\r\n`,
      );
    expectError(await twice('Bearer nobody', authorization), 401, 'unauthorized');
    expect((await twice(authorization, 'Bearer nobody')).status).toBe(200);
  });
});

describe('endpoints beside the contract', () => {
  test('/openapi.json is OpenAPI 3.1 with the two events, and the addition', async () => {
    const response = await fetch(`${address}/openapi.json`);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    const document = (await response.json()) as Record<string, Record<string, object>>;
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(Object.keys(document.webhooks!)).toEqual(
      ['succeeded', 'failed', 'refunded'].map(end => `payment.${end}`),
    );
  });

  test.each(['/', '/ru/', '/docs/', '/docs/ru/', '/docs/reference/create-payment'])(
    '%s loads nothing from other hosts',
    async path => {
      const response = await fetch(`${address}${path}`);
      expect(response.headers.get('content-type')).toMatch(/^text\/html/);
      const policy = response.headers.get('content-security-policy')!;
      expect(policy).toMatch(/^default-src 'none';/);
      expect(policy).not.toMatch(/https?:|\*|unsafe/);
      const html = await response.text();
      const addresses = Array.from(
        html.matchAll(/<(?:script|img|link rel="(?:icon|stylesheet)")[^>]*\s(?:src|href)="([^"]+)"/g),
        ([, found]) => found!,
      );
      expect(addresses.length).toBeGreaterThan(2);
      for (const found of addresses) {
        expect(found).toMatch(/^\/docs\/assets\/|^\/favicon\.ico$/);
        const asset = await fetch(new URL(found, response.url));
        expect(asset.status, found).toBe(200);
        expect(asset.headers.get('content-security-policy')).toBe(policy);
        await asset.arrayBuffer();
      }
    },
  );

  /** What a service with these parts says of itself. */
  async function healthWith(parts: object) {
    const server = await createServer({ ...deps, metrics: new Registry(), ...parts });
    const at = await server.listen({ host: '127.0.0.1', port: 0 });
    const [ready, alive] = [await fetch(`${at}/readyz`), await fetch(`${at}/healthz`)];
    const said = (await ready.json()) as { ok: boolean; reason?: string };
    await server.close();
    expect(ready.headers.get('x-request-id')).toMatch(/^req_/);
    return { ready: ready.status, alive: alive.status, ...said };
  }

  test('without a database /readyz answers 503, and /healthz still 200', async () => {
    const query = () => Promise.reject(new Error('gone'));
    expect(await healthWith({ pool: { query } })).toMatchObject({ ready: 503, alive: 200, ok: false });
  });

  test.each([
    [-31_000, 500, { ready: 503, reason: expect.stringMatching(/^the clock of this machine is 31\.0 s/) }],
    [31_000, 2_000, { ready: 200 }],
    [29_000, 0, { ready: 200 }],
  ])('with a clock that is off by %i ± %i ms /readyz answers %o', async (ms, uncertaintyMs, expected) => {
    const clockOffset = () => ({ ms, uncertaintyMs });
    expect(await healthWith({ clockOffset })).toMatchObject(expected);
  });

  test('metrics count by route, so that callers cannot add names', async () => {
    await partner.get(`/v1/payments/${unknownId}`);
    await partner.get('/v1/some-random-name');
    const text = await deps.metrics.metrics();
    expect(text).toMatch(
      /http_request_duration_seconds_count\{method="GET",route="\/v1\/payments\/:payment_id",status="404"\} \d+/,
    );
    expect(text).not.toContain('some-random-name');
    expect(text).not.toContain(unknownId);
  });
});
