import { type AddressInfo, connect } from 'node:net';
import { Registry } from 'prom-client';
import { afterAll, test as base, describe, expect } from 'vitest';
import { createServer } from '../../src/api/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import { openPool, transaction } from '../../src/db/postgres/pool.ts';
import { codeOf, newLink, partnerAt, startApi } from '../helpers/api.ts';
import { expectError, sendRaw, sendRequest } from '../helpers/raw-http.ts';
import { recoverDuePayments } from '../helpers/recovery.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';
import { startHttpWorld } from './http-world.ts';

const { pool, address, deps, testKey, liveKey, partner, authorization, countPayments } =
  await startHttpWorld();

const unfinished = (key: string) =>
  `POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nIdempotency-Key: ${key}\r\n` +
  `Content-Length: 500\r\n\r\n{"qr_url":"${newLink(10_000)}"`;
const test = base.extend('broken', () => startApi({ pool }));

describe('malformed HTTP', () => {
  const head = `POST /v1/quote HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n`;

  test.each([
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['garbage', '\x00\x01\x02garbage\r\n\r\n'],
    ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['an unknown verb', 'FETCH /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a header without a colon', 'GET /v1/ping HTTP/1.1\r\nHost x\r\n\r\n'],
    ['NUL in a header', 'GET /v1/ping HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n'],
    ['headers of 20 KB', `GET /v1/ping HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
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

  test('a URL with another host than Host is refused', async () => {
    const get = (url: string) =>
      sendRaw(address, `GET ${url} HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n\r\n`);
    for (const url of ['http://evil.example/healthz', 'http://shop.example:81/healthz'])
      expectError(await get(url), 400, 'invalid_request');
    for (const url of ['http://SHOP.example/healthz', 'http://shop.example:80/healthz'])
      expect((await get(url)).status).toBe(200);
  });

  test.each(['/v1/ping', '/healthz', '/docs/', '/unknown'])('two Hosts are refused at %s', async path => {
    for (const second of ['Host: x', 'HOST: evil.example']) {
      const head = `GET ${path} HTTP/1.1\r\nHost: x\r\n${second}\r\nAuthorization: ${authorization}\r\n\r\n`;
      const answer = await sendRaw(address, head);
      expectError(answer, 400, 'invalid_request');
      expect(answer.headers.connection).toBe('close');
    }
  });

  test('a WebSocket upgrade is answered like any other request', async () => {
    const headers = { authorization, connection: 'upgrade', upgrade: 'websocket' };
    expect((await sendRequest(address, { path: '/v1/ping', headers })).status).toBe(200);
  });

  test('a caller that disconnects in the middle of its request leaves no payment behind', async () => {
    const before = await countPayments();
    const { port } = new URL(address);
    await new Promise<void>(resolve => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('close', () => resolve());
      socket.write(unfinished('gone'), () => socket.destroy());
    });
    expect((await partner.get('/v1/ping')).status).toBe(200);
    expect(await countPayments()).toBe(before);
  });
});

describe('a slow caller', async () => {
  const server = await createServer({ ...deps, metrics: new Registry() });
  Object.assign(server.server, { headersTimeout: 150, requestTimeout: 300, connectionsCheckingInterval: 50 });
  const impatient = await server.listen({ host: '127.0.0.1', port: 0 });
  afterAll(() => server.close());

  test('gets an invalid request if its headers are late', async () => {
    expectError(await sendRaw(impatient, 'GET /v1/ping HTTP/1.1\r\nHo'), 400, 'invalid_request');
  });

  test('gets an invalid request if its body is late, and has paid nothing', async () => {
    const before = await countPayments();
    expectError(await sendRaw(impatient, unfinished('slow')), 400, 'invalid_request');
    expect(await countPayments()).toBe(before);
  });

  test('without a valid key gets no time for its body', async () => {
    const head = 'POST /v1/payments HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 500\r\n\r\n';
    // The body never comes.
    expectError(await sendRaw(address, head), 401, 'unauthorized');
  });
});

test('an internal error shows no details, debits nothing and leaves the key free', async ({ broken }) => {
  const { writer } = broken.deps;
  const { open } = writer;
  const logged: object[] = [];
  broken.deps.log.error = details => void logged.push(details);
  writer.open = () => Promise.reject(new Error('secret detail'));
  const unlucky = partnerAt(broken.address, testKey);
  const balance = (await partner.get('/v1/balance')).json.balance_usdt;
  const body = { qr_url: newLink(10_000) };
  const failed = await unlucky.pay(body, 'after an error');
  expect(codeOf(failed)).toBe('500 internal_error');
  expect(failed.text).not.toContain('secret detail');
  expect(logged).toEqual([{ err: new Error('secret detail'), request_id: failed.json.error.request_id }]);
  expect((await partner.get('/v1/balance')).json.balance_usdt).toBe(balance);
  writer.open = open;
  const retried = await unlucky.pay(body, 'after an error');
  expect(retried.json.status).toBe('succeeded');
  expect(retried.headers.has('idempotent-replayed')).toBe(false);
});

describe('once a payment is debited', () => {
  test('an internal error is not a refusal: the payment exists and ends later', async () => {
    const simulator = await openSimulator();
    const broken = await startApi({ pool, gatewayUrl: simulator.address });
    const { writer } = broken.deps;
    const { finish } = writer;
    writer.finish = () => Promise.reject(new Error('the database is gone'));
    const unlucky = partnerAt(broken.address, liveKey);
    const body = { qr_url: (await makeQr(simulator)).link };
    const answered = await unlucky.pay(body, 'debited');
    expect(answered.json).toMatchObject({ status: 'processing', status_detail: 'awaiting_gateway' });
    writer.finish = finish;
    broken.deps.clock = { ...systemClock, nowMs: () => Date.now() + 61_000 };
    await recoverDuePayments(broken.deps);
    expect((await unlucky.get(`/v1/payments/${answered.json.id}`)).json.status).toBe('succeeded');
  });

  test('a payment whose commit was not confirmed is found by its key and continues', async ({ broken }) => {
    const { writer } = broken.deps;
    const { open } = writer;
    writer.open = async opening => {
      await open(opening);
      throw new Error('the connection broke after the commit');
    };
    const answered = await partnerAt(broken.address, testKey).pay({ qr_url: newLink(10_000) }, 'committed');
    expect(codeOf(answered)).toBe('200 succeeded');
  });

  test('a missing database is a temporary error', async ({ broken }) => {
    const gone = Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' });
    broken.deps.writer.open = () => Promise.reject(gone);
    const failed = await partnerAt(broken.address, testKey).pay({ qr_url: newLink(10_000) });
    expect(codeOf(failed)).toBe('503 gateway_unavailable');
  });

  const hasty = openPool({ ...pool.options, lock_timeout: 300 });
  afterAll(() => hasty.end());

  test('an overloaded database is a temporary error too', async () => {
    const overloaded = await startApi({ pool: hasty });
    const failed = await transaction(pool, async tx => {
      await tx.query({ text: 'SELECT FROM accounts FOR UPDATE' });
      return partnerAt(overloaded.address, testKey).pay({ qr_url: newLink(10_000) });
    });
    expect(codeOf(failed)).toBe('503 gateway_unavailable');
  });
});

test('graceful shutdown waits only for requests that wait for an answer', async ({ broken: { deps } }) => {
  const server = await createServer({ ...deps, metrics: new Registry() });
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<{ ok: true }>();
  server.get('/slow', () => {
    asked.resolve();
    return answer.promise;
  });
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
  await expect
    .poll(() => new Promise(resolve => server.server.getConnections((_error, count) => resolve(count))))
    .toBe(4);
  // A connection that is accepted may not have been read yet.
  await asked.promise;
  const closed = server.close();
  await Promise.all(idle.map(({ ended }) => ended));
  answer.resolve({ ok: true });
  expect(await waiting.ended).toContain('200 OK');
  await closed;
});
