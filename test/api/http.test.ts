import { Agent } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createServer } from '../../src/api/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import { recoverDuePayments } from '../../src/payments/index.ts';
import { createCustomer, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { createDatabase } from '../helpers/database.ts';
import { expectError, sendRaw, sendRequest } from '../helpers/raw.ts';

const { pool } = await createDatabase();
await setRate(pool);
const { address, deps } = await startApi({ pool });
const { testKey } = await createCustomer(pool);
const partner = partnerAt(address, testKey);
const authorization = `Bearer ${testKey}`;
const unknownId = 'pay_01m7ehqr39e00aq7xw60wbe32j';

const countPayments = async () => {
  const { rows } = await pool.query('SELECT count(*)::int AS n FROM payments');
  return rows[0].n;
};

describe('the request id', () => {
  test.each(['/v1/ping', '/v1/balance', '/v1/rate', '/v1/payments'])(
    'is in the header and the body of GET %s',
    async path => {
      const { headers, json } = await partner.get(path);
      expect(json.request_id).toBe(headers.get('x-request-id'));
    },
  );

  test.each([
    ['/v1/quote', { amount_rub: '100' }],
    ['/v1/qr/resolve', { qr_url: newLink(10_000) }],
  ])('is in the header and the body of POST %s', async (path, body) => {
    const { status, headers, json } = await partner.post(path, { body });
    expect(status).toBe(200);
    expect(json.request_id).toBe(headers.get('x-request-id'));
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

  test('is only in the header of a malformed request', async () => {
    const { status, headers, json } = await partner.post('/v1/quote', { body: {} });
    expect(status).toBe(422);
    expect(Object.keys(json)).toEqual(['detail']);
    expect(headers.get('x-request-id')).toMatch(/^req_/);
  });

  test('is in the header and the error of a refusal', async () => {
    const refusals = [
      await partnerAt(address, 'nobody').get('/v1/ping'),
      await partner.get(`/v1/payments/${unknownId}`),
      await partner.get('/v1/nothing'),
      await partner.post('/v1/payments', { body: { qr_url: newLink(10_000) } }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([401, 404, 404, 400]);
    for (const { headers, json } of refusals) expect(json.error.request_id).toBe(headers.get('x-request-id'));
  });

  test('is a new one every time, whatever the caller calls its request', async () => {
    const headers = { 'x-request-id': unknownId.replace('pay', 'req'), 'request-id': 'mine' };
    const first = await partner.get('/v1/ping', { headers });
    const second = await partner.get('/v1/ping', { headers });
    expect(new Set([headers['x-request-id'], first.json.request_id, second.json.request_id]).size).toBe(3);
  });

  test.each(['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs/'])('is on %s', async path => {
    const response = await fetch(`${address}${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-7][0-9a-z]{25}$/);
  });
});

describe('an unknown path or method', () => {
  test.each([
    ['GET', '/'],
    ['GET', '/v1'],
    ['GET', '/v2/ping'],
    ['GET', '/v1/ping/'],
    ['GET', '/V1/PING'],
    ['GET', '//v1/ping'],
    ['GET', '/v1/payments/'],
    ['GET', `/v1/payments/${unknownId}/refunds`],
    ['GET', '/docs/nothing'],
    ['GET', '/v1/%zz'],
    ['GET', '/v1/payments/%'],
    ['GET', `/v1/${'x'.repeat(8_000)}`],
    ['PUT', '/v1/ping'],
    ['POST', '/v1/ping'],
    ['DELETE', `/v1/payments/${unknownId}`],
    ['PATCH', '/v1/payments'],
    ['OPTIONS', '/v1/payments'],
    ['TRACE', '/v1/ping'],
    ['PROPFIND', '/v1/ping'],
    ['QUERY', '/v1/payments'],
  ])('%s %s is not found', async (method, path) => {
    expectError(await sendRequest(address, { method, path, headers: { authorization } }), 404, 'not_found');
  });

  test.each(['/v1/ping', '/v1/payments', '/v1/nothing'])('HEAD %s is not found', async path => {
    const { status, headers, text } = await sendRequest(address, {
      method: 'HEAD',
      path,
      headers: { authorization },
    });
    expect({ status, text }).toEqual({ status: 404, text: '' });
    expect(headers['x-request-id']).toMatch(/^req_/);
  });

  test('is not found before anybody looks at key or body', async () => {
    expectError(await sendRequest(address, { path: '/v1/nothing' }), 404, 'not_found');
    for (const body of ['{', 'x'.repeat(70_000), '']) {
      const answer = await sendRequest(address, {
        method: 'POST',
        path: '/v1/nothing',
        headers: { 'content-type': 'application/json' },
        body,
      });
      expectError(answer, 404, 'not_found');
    }
  });
});

describe('a body', () => {
  const quoteOf = (bytes: number) => {
    const body = '{"amount_rub":"100"}';
    return body + ' '.repeat(bytes - body.length);
  };
  const posts = ['/v1/quote', '/v1/qr/resolve', '/v1/payments'];

  test('of exactly 64 KiB is read', async () => {
    expect((await partner.post('/v1/quote', { raw: quoteOf(64 * 1024) })).status).toBe(200);
  });

  test.each(posts)('of one byte more is an invalid request to %s', async path => {
    const { status, json } = await partner.post(path, { raw: quoteOf(64 * 1024 + 1) });
    expect({ status, code: json.error.code }).toEqual({ status: 400, code: 'invalid_request' });
    expect(json.error.message).toBe('The body is larger than 64 KiB.');
  });

  test('of one byte more in chunks is an invalid request', async () => {
    const body = quoteOf(64 * 1024 + 1);
    const headers = `POST /v1/quote HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nConnection: close\r\n`;
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
    const answer = await sendRaw(address, `${headers}Transfer-Encoding: chunked\r\n\r\n`, chunk, '0\r\n\r\n');
    expectError(answer, 400, 'invalid_request');
  });

  test('that is announced as a gigabyte is refused before it comes', async () => {
    const head = `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n`;
    const answer = await sendRaw(address, `${head}Content-Length: 1000000000\r\n\r\n{"qr_url":`);
    expectError(answer, 400, 'invalid_request');
  });

  test('of 4 MiB still gets to read its answer', async () => {
    const { status, json } = await partner.post('/v1/quote', { raw: quoteOf(4 * 1024 * 1024) });
    expect({ status, code: json.error.code }).toEqual({ status: 400, code: 'invalid_request' });
  });

  test('of a stranger is not looked at, however large', async () => {
    const { status } = await partnerAt(address, 'nobody').post('/v1/quote', { raw: quoteOf(70_000) });
    expect(status).toBe(401);
  });

  test.each([
    '{',
    '{"amount_rub":}',
    '{"amount_rub":"100"',
    '{"amount_rub":"100"}}',
    '{"amount_rub":"100",}',
    "{'amount_rub':'100'}",
    '{amount_rub:100}',
    '{"amount_rub":NaN}',
    '{"amount_rub":Infinity}',
    '{"amount_rub":0x64}',
    '{"amount_rub":0100}',
    '{"amount_rub":+100}',
    '{"amount_rub":.5}',
    '{"amount_rub":5.}',
    '{"amount_rub":"1\n0"}',
    '{"amount_rub":"\\x31"}',
    '{"amount_rub":"\\u12"}',
    '// 100\n{"amount_rub":100}',
    'amount_rub=100',
    'undefined',
    ' ',
    '['.repeat(30_000),
    '{"a":'.repeat(10_000),
  ])('that is no JSON is malformed: %s', async raw => {
    const { status, json } = await partner.post('/v1/quote', { raw });
    expect(status).toBe(422);
    expect(json.detail).toEqual([
      { loc: ['body', expect.any(Number)], msg: 'JSON decode error', type: 'json_invalid' },
    ]);
  });

  test('says where it stops being JSON', async () => {
    const { json } = await partner.post('/v1/quote', { raw: '{"amount_rub":}' });
    expect(json.detail[0].loc).toEqual(['body', 14]);
  });

  test.each([
    ['bad UTF-8', new Uint8Array([...Buffer.from('{"amount_rub":"1'), 0xc3, 0x28, ...Buffer.from('"}')])],
    ['an overlong NUL', new Uint8Array([...Buffer.from('{"a":"'), 0xc0, 0x80, ...Buffer.from('"}')])],
    ['a surrogate in UTF-8', new Uint8Array([...Buffer.from('{"a":"'), 0xed, 0xa0, 0x80, 0x22, 0x7d])],
    ['UTF-16', new Uint8Array(Buffer.from('{"amount_rub":"100"}', 'utf16le'))],
    ['gzip', new Uint8Array(gzipSync('{"amount_rub":"100"}'))],
    ['zeros', new Uint8Array(100)],
  ])('in %s is malformed', async (_name, raw) => {
    const { status, json } = await partner.post('/v1/quote', { raw });
    expect({ status, type: json.detail[0].type }).toEqual({ status: 422, type: 'json_invalid' });
  });

  test('may begin with a byte order mark', async () => {
    const { json } = await partner.post('/v1/quote', { raw: '\ufeff{"amount_rub":"100"}' });
    expect(json.amount_rub).toBe('100.00');
  });

  test.each(posts)('that is missing is malformed at %s', async path => {
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const { status, json } = await partner.post(path, { headers: headers as Record<string, string> });
      expect(status).toBe(422);
      expect(json.detail[0].loc).toEqual(['body']);
    }
  });

  test.each(['[]', '[{"amount_rub":100}]', 'null', 'true', '"100"', '100'])(
    'that is no object is malformed: %s',
    async raw => {
      for (const path of posts) {
        const { status, json } = await partner.post(path, { raw });
        expect(status).toBe(422);
        expect(json.detail[0].loc).toEqual(['body']);
      }
    },
  );

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16'])(
    'is read as JSON whatever type it claims to be: %j',
    async type => {
      const answer = await partner.post('/v1/quote', {
        raw: '{"amount_rub":"100"}',
        headers: { 'content-type': type },
      });
      expect(answer.json.amount_rub).toBe('100.00');
    },
  );

  test.each(['', 'nonsense', ';', 'application/', 'a b/c'])(
    'of an unreadable type is refused: %j',
    async type => {
      const answer = await partner.post('/v1/quote', {
        raw: '{"amount_rub":"100"}',
        headers: { 'content-type': type },
      });
      expect({ status: answer.status, ...answer.json.error }).toMatchObject({
        status: 400,
        code: 'invalid_request',
        message: expect.stringContaining('Content-Type'),
      });
    },
  );

  test('cannot fill in a field by way of __proto__', async () => {
    const raw = '{"__proto__":{"amount_rub":"100"},"constructor":{"prototype":{"amount_rub":"100"}}}';
    const { status, json } = await partner.post('/v1/quote', { raw });
    expect({ status, detail: json.detail }).toEqual({
      status: 422,
      detail: [{ loc: ['body', 'amount_rub'], msg: 'Field required', type: 'missing' }],
    });
    expect(({} as { amount_rub?: string }).amount_rub).toBeUndefined();
  });

  test('may have fields that nobody knows, and __proto__ is one of them', async () => {
    const raw = '{"amount_rub":"100","__proto__":{"amount_rub":"5"},"toString":1,"hasOwnProperty":null}';
    expect((await partner.post('/v1/quote', { raw })).json.amount_rub).toBe('100.00');
  });

  test('that names a field twice means the last one', async () => {
    const raw = '{"amount_rub":"100","amount_rub":"200"}';
    expect((await partner.post('/v1/quote', { raw })).json.amount_rub).toBe('200.00');
  });

  test('with NUL or half a character anywhere is malformed, and says where', async () => {
    for (const bad of ['\\u0000', '\\ud800', '\\udc00\\ud800']) {
      const raw = `{"amount_rub":"100","other":[{"deep":"${bad}"}]}`;
      const { status, json } = await partner.post('/v1/quote', { raw });
      expect({ status, loc: json.detail[0].loc }).toEqual({ status: 422, loc: ['body', 'other', 0, 'deep'] });
    }
  });

  test('of a GET is ignored', async () => {
    const headers = { authorization, 'content-length': '1' };
    expect((await sendRequest(address, { path: '/v1/ping', headers, body: '{' })).status).toBe(200);
  });
});

describe('what is hardly HTTP', () => {
  const head = `POST /v1/quote HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n`;

  test.each([
    ['garbage', '\x00\x01\x02garbage\r\n\r\n'],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['an unknown verb', 'FETCH /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['HTTP/3', 'GET /v1/ping HTTP/3.0\r\nHost: x\r\n\r\n'],
    ['a header without a colon', 'GET /v1/ping HTTP/1.1\r\nHost x\r\n\r\n'],
    ['NUL in a header', 'GET /v1/ping HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n'],
    ['headers of 20 KB', `GET /v1/ping HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['an address of 20 KB', `GET /v1/${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    ['a negative length', `${head}Content-Length: -1\r\n\r\n`],
    ['two lengths', `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ['a length and chunks', `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a broken chunk', `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'],
  ])('is an invalid request: %s', async (_name, bytes) => {
    expectError(await sendRaw(address, Buffer.from(bytes, 'latin1')), 400, 'invalid_request');
  });

  test('an expectation that cannot be met changes nothing', async () => {
    const answer = await sendRaw(
      address,
      `${head}Expect: miracles\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
    );
    expect(answer.status).toBe(422);
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
  });

  test('a missing Host gets an answer of the contract', async () => {
    const answer = await sendRaw(address, 'GET /v1/ping HTTP/1.1\r\nConnection: close\r\n\r\n');
    expectError(answer, 401, 'unauthorized');
  });

  test('HTTP/1.0 will do', async () => {
    const answer = await sendRaw(address, `GET /v1/ping HTTP/1.0\r\nAuthorization: ${authorization}\r\n\r\n`);
    expect(answer.json.ok).toBe(true);
  });

  test('a request to become a web socket is answered as any other', async () => {
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
    const answer = await sendRequest(address, {
      path: '/v1/ping',
      headers: { authorization, connection: 'upgrade', upgrade: 'websocket' },
    });
    expect(answer.status, upgrade).toBe(200);
  });

  test('whoever hangs up in the middle of a payment leaves nothing behind', async () => {
    const before = await countPayments();
    const { port } = new URL(address);
    await new Promise<void>(resolve => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('close', () => resolve());
      const start = `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nIdempotency-Key: gone\r\n`;
      socket.write(`${start}Content-Length: 500\r\n\r\n{"qr_url":"${newLink(10_000)}"`, () =>
        socket.destroy(),
      );
    });
    expect((await partner.get('/v1/ping')).status).toBe(200);
    expect(await countPayments()).toBe(before);
  });
});

describe('who is too slow', async () => {
  const server = await createServer(deps);
  Object.assign(server.server, { headersTimeout: 150, requestTimeout: 300, connectionsCheckingInterval: 50 });
  const impatient = await server.listen({ host: '127.0.0.1', port: 0 });
  afterAll(() => server.close());

  test('with the headers gets an invalid request', async () => {
    expectError(await sendRaw(impatient, 'GET /v1/ping HTTP/1.1\r\nHo'), 400, 'invalid_request');
  });

  test('with the body gets an invalid request, and has paid nothing', async () => {
    const before = await countPayments();
    const head = `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nIdempotency-Key: slow\r\n`;
    const answer = await sendRaw(
      impatient,
      `${head}Content-Length: 500\r\n\r\n{"qr_url":"${newLink(10_000)}"`,
    );
    expectError(answer, 400, 'invalid_request');
    expect(await countPayments()).toBe(before);
  });

  test('and a stranger gets no time at all', async () => {
    const head = 'POST /v1/payments HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 500\r\n\r\n';
    const began = performance.now();
    expectError(await sendRaw(address, head), 401, 'unauthorized');
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});

describe('a connection', () => {
  test('goes on after every kind of error', async () => {
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

  test('with two keys is judged by the first', async () => {
    const twice = (first: string, second: string) =>
      sendRaw(
        address,
        `GET /v1/ping HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${first}\r\nAuthorization: ${second}\r\n\r\n`,
      );
    expectError(await twice('Bearer nobody', authorization), 401, 'unauthorized');
    expect((await twice(authorization, 'Bearer nobody')).status).toBe(200);
  });
});

describe('an error of our own', () => {
  test('is an internal error that tells nothing, debits nothing and leaves the key free', async () => {
    const broken = await startApi({ pool });
    const open = broken.deps.writer.open;
    const logged: object[] = [];
    broken.deps.log.error = details => void logged.push(details);
    broken.deps.writer.open = () => Promise.reject(new Error('secret detail'));
    const unlucky = partnerAt(broken.address, testKey);
    const balance = (await partner.get('/v1/balance')).json.balance_usdt;
    const body = { qr_url: newLink(10_000) };
    const failed = await unlucky.pay(body, 'after an error');
    expect({ status: failed.status, code: failed.json.error.code }).toEqual({
      status: 500,
      code: 'internal_error',
    });
    expect(failed.text).not.toContain('secret detail');
    expect(logged).toEqual([{ err: new Error('secret detail'), request_id: failed.json.error.request_id }]);
    expect((await partner.get('/v1/balance')).json.balance_usdt).toBe(balance);
    broken.deps.writer.open = open;
    const retried = await unlucky.pay(body, 'after an error');
    expect(retried.json.status).toBe('succeeded');
    expect(retried.headers.has('idempotent-replayed')).toBe(false);
  });
});

describe('once a payment is debited', () => {
  test('an error of our own is not a refusal: the payment stands and ends later', async () => {
    const broken = await startApi({ pool });
    const { finish } = broken.deps.writer;
    broken.deps.writer.finish = () => Promise.reject(new Error('the database is gone'));
    const unlucky = partnerAt(broken.address, testKey);
    const body = { qr_url: newLink(10_000) };
    const answered = await unlucky.pay(body, 'debited');
    expect(answered.json).toMatchObject({ status: 'processing', status_detail: 'awaiting_gateway' });
    broken.deps.writer.finish = finish;
    broken.deps.clock = { ...systemClock, nowMs: () => Date.now() + 61_000 };
    await recoverDuePayments(broken.deps);
    expect((await unlucky.get(`/v1/payments/${answered.json.id}`)).json.status).toBe('succeeded');
  });

  test('an answer that got lost on the way from the database is found by its key, and the payment goes on', async () => {
    const broken = await startApi({ pool });
    const { open } = broken.deps.writer;
    broken.deps.writer.open = async opening => {
      await open(opening);
      throw new Error('the connection broke after the commit');
    };
    const answered = await partnerAt(broken.address, testKey).pay({ qr_url: newLink(10_000) }, 'committed');
    expect({ status: answered.status, payment: answered.json.status }).toEqual({
      status: 200,
      payment: 'succeeded',
    });
  });

  test('no database is a temporary error', async () => {
    const broken = await startApi({ pool });
    const gone = Object.assign(new Error('connect ECONNREFUSED'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
    });
    broken.deps.writer.open = () => Promise.reject(gone);
    const failed = await partnerAt(broken.address, testKey).pay({ qr_url: newLink(10_000) });
    expect({ status: failed.status, code: failed.json.error.code }).toEqual({
      status: 503,
      code: 'gateway_unavailable',
    });
  });

  test('a database that cannot keep up is a temporary error too', async () => {
    const somebody = await pool.connect();
    await somebody.query('BEGIN');
    await somebody.query('SELECT FROM accounts FOR UPDATE');
    const failed = await partnerAt(address, testKey).pay({ qr_url: newLink(10_000) });
    await somebody.query('ROLLBACK');
    somebody.release();
    expect({ status: failed.status, code: failed.json.error.code }).toEqual({
      status: 503,
      code: 'gateway_unavailable',
    });
  });
});

describe('beside the contract', () => {
  test('/openapi.json is OpenAPI 3.1 with the eight endpoints, the feed and the two events', async () => {
    const response = await fetch(`${address}/openapi.json`);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    const document = (await response.json()) as Record<string, Record<string, object>>;
    expect(document.openapi).toMatch(/^3\.1\./);
    const operations = Object.entries(document.paths!).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
    );
    expect(operations.sort()).toEqual([
      'GET /v1/balance',
      'GET /v1/events',
      'GET /v1/payments',
      'GET /v1/payments/{payment_id}',
      'GET /v1/ping',
      'GET /v1/rate',
      'GET /v1/statement',
      'GET /v1/test/clock',
      'POST /v1/payments',
      'POST /v1/qr/resolve',
      'POST /v1/quote',
      'POST /v1/test/clock',
    ]);
    expect(Object.keys(document.webhooks!)).toEqual(['payment.succeeded', 'payment.failed']);
  });

  test('/openapi.json has an example for every error of the contract', async () => {
    const text = await (await fetch(`${address}/openapi.json`)).text();
    const { errors } = await import('../../src/base/errors.ts');
    for (const code of Object.keys(errors)) expect(text, code).toContain(`"code":"${code}"`);
  });

  test('/docs loads nothing from outside', async () => {
    const response = await fetch(`${address}/docs/`);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    const policy = response.headers.get('content-security-policy')!;
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).not.toMatch(/https?:|\*/);
    const html = await response.text();
    const addresses = Array.from(
      html.matchAll(/\b(?:src|href)\s*=\s*["']?([^"'\s>]+)/gi),
      ([, found]) => found!,
    );
    expect(addresses.length).toBeGreaterThan(0);
    for (const found of addresses) {
      expect(found).not.toMatch(/^(?:[a-z]+:)?\/\//i);
      const asset = await fetch(new URL(found, response.url));
      expect(asset.status, found).toBe(200);
      expect(asset.headers.get('content-security-policy')).toBe(policy);
      await asset.arrayBuffer();
    }
  });

  test('/healthz and /readyz say that all is well', async () => {
    expect(await (await fetch(`${address}/healthz`)).json()).toEqual({ ok: true });
    expect(await (await fetch(`${address}/readyz`)).json()).toEqual({ ok: true });
  });

  test('without a database /readyz says so, and /healthz does not mind', async () => {
    const query = () => Promise.reject(new Error('gone'));
    const server = await createServer({ ...deps, pool: { query } as never });
    const lonely = await server.listen({ host: '127.0.0.1', port: 0 });
    const ready = await fetch(`${lonely}/readyz`);
    expect(ready.status).toBe(503);
    expect(((await ready.json()) as { ok: boolean }).ok).toBe(false);
    expect(ready.headers.get('x-request-id')).toMatch(/^req_/);
    expect((await fetch(`${lonely}/healthz`)).status).toBe(200);
    await server.close();
  });

  test('/metrics counts by route, so that nobody can flood it with names', async () => {
    await partner.get(`/v1/payments/${unknownId}`);
    await partner.get('/v1/some-random-name');
    const response = await fetch(`${address}/metrics`);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    const text = await response.text();
    expect(text).toMatch(
      /http_request_duration_seconds_count\{method="GET",route="\/v1\/payments\/:payment_id",status="404"\} \d+/,
    );
    expect(text).not.toContain('some-random-name');
    expect(text).not.toContain(unknownId);
  });
});

test('a server that closes waits only for those who wait for an answer', async () => {
  const { deps } = await startApi({ pool });
  const server = await createServer(deps);
  let answer = () => {};
  server.get('/slow', () => new Promise(resolve => (answer = () => resolve({ ok: true }))));
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  const open = (text: string) => {
    const socket = connect(port, '127.0.0.1', () => void socket.write(text));
    let received = '';
    socket.on('data', chunk => (received += chunk));
    return { socket, ended: new Promise<string>(resolve => socket.once('close', () => resolve(received))) };
  };
  const headers = 'Host: x\r\nContent-Length: 10\r\n\r\n';
  const idle = [
    open(''),
    open('GET /v1/ping HTTP/1.1\r\n'),
    open(`POST /v1/quote HTTP/1.1\r\n${headers}{"amount`),
  ];
  const waiting = open('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await vi.waitFor(async () =>
    expect(
      await new Promise(resolve => server.server.getConnections((_error, count) => resolve(count))),
    ).toBe(4),
  );
  const closed = server.close();
  await Promise.all(idle.map(({ ended }) => ended));
  answer();
  expect(await waiting.ended).toContain('200 OK');
  await closed;
});
