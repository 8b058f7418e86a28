import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  AuthenticationError,
  ConnectionError,
  InvalidRequestError,
  KopeckError,
  NotFoundError,
  PaymentRefusedError,
  PermissionError,
  RateLimitError,
  ServiceUnavailableError,
  TimeoutError,
} from '../../sdk/src/index.ts';
import { errors } from '../../src/base/errors.ts';
import { answer, chance, cut, payment, refusal, scripted } from './fake.ts';

afterEach(() => vi.restoreAllMocks());
const params = { qr_url: 'https://qr.nspk.ru/AD1', external_id: 'order-42' };
const ok = answer(200, payment);

describe('backoff', () => {
  test('from 2 s, doubled, at most five retries', async () => {
    chance(0);
    const { kopeck, pauses, requests } = scripted([refusal(503, 'gateway_busy')]);
    await expect(kopeck.payments.create(params)).rejects.toBeInstanceOf(ServiceUnavailableError);
    expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 32_000]);
    expect(requests).toHaveLength(6);
  });

  test('never grows beyond a minute', async () => {
    chance(0);
    const { kopeck, pauses } = scripted([cut], { maxRetries: 8 });
    await expect(kopeck.ping()).rejects.toBeInstanceOf(ConnectionError);
    expect(pauses.slice(4)).toEqual([32_000, 60_000, 60_000, 60_000]);
  });

  test('has up to 50% jitter, and is never shorter', async () => {
    const firsts: number[] = [];
    for (let run = 0; run < 300; run++) {
      const { kopeck, pauses } = scripted([refusal(429, 'rate_limited'), ok]);
      await kopeck.payments.create(params);
      firsts.push(pauses[0]!);
    }
    expect(Math.min(...firsts)).toBeGreaterThanOrEqual(2_000);
    expect(Math.max(...firsts)).toBeLessThan(3_000);
    expect(Math.max(...firsts) - Math.min(...firsts)).toBeGreaterThan(500);
  });

  test.each([
    ['7', 7_000],
    ['1', 2_000],
    ['Sun, 15 Nov 2026 10:00:30 GMT', 30_000],
    ['nonsense', 2_000],
  ])('respect Retry-After: %s', async (header, pause) => {
    chance(0);
    const { kopeck, pauses } = scripted([refusal(429, 'rate_limited', {}, { 'retry-after': header }), ok]);
    await kopeck.payments.create(params);
    expect(pauses).toEqual([pause]);
  });

  test('of more than a minute is left to the caller', async () => {
    const { kopeck, requests } = scripted([refusal(503, 'maintenance', {}, { 'retry-after': '3600' })]);
    await expect(kopeck.payments.create(params)).rejects.toMatchObject({
      code: 'maintenance',
      retryAfterSec: 3_600,
      retryable: true,
    });
    expect(requests).toHaveLength(1);
  });
});

describe('a retry', () => {
  test('has the same key and the same bytes, whatever went wrong before', async () => {
    const { kopeck, requests } = scripted([
      cut,
      refusal(429, 'rate_limited'),
      answer(500, ''),
      answer(502, '<h1>Bad Gateway</h1>'),
      answer(200, '<h1>Welcome to the hotel</h1>'),
      ok,
    ]);
    expect(await kopeck.payments.create(params)).toEqual(payment);
    expect(requests).toHaveLength(6);
    const [first] = requests;
    expect(first!.url).toBe('https://pay.example/base/v1/payments');
    expect(first!.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    for (const request of requests) expect(request).toEqual(first);
  });

  test('is not made for a request that must be fixed', async () => {
    const fixes = Object.entries(errors).filter(([, { status }]) => status < 500 && status !== 429);
    expect(fixes.length).toBeGreaterThan(15);
    for (const [code, { status }] of fixes) {
      const { kopeck, requests } = scripted([refusal(status, code, { retryable: true })]);
      await expect(kopeck.payments.create(params)).rejects.toMatchObject({
        code,
        status,
        requestId: 'req_1',
      });
      expect(requests, code).toHaveLength(1);
    }
  });

  test('after an internal error is made only if the service advises it', async () => {
    const silent = scripted([refusal(500, 'internal_error'), ok]);
    const error = await silent.kopeck.payments.create(params).catch(error => error);
    expect(error).toMatchObject({ code: 'internal_error', retryable: false, sameKey: true });
    expect(silent.requests).toHaveLength(1);
    const advised = scripted([refusal(500, 'internal_error', { retryable: true, same_key: true }), ok]);
    await advised.kopeck.payments.create(params);
    expect(advised.requests).toHaveLength(2);
  });

  test('is not made for the test clock after a lost answer, since it would move twice', async () => {
    const lost = scripted([cut, answer(200, { advanced_sec: 30 })]);
    await expect(lost.kopeck.test.clock.advance({ seconds: 30 })).rejects.toBeInstanceOf(ConnectionError);
    expect(lost.requests).toHaveLength(1);
    const refused = scripted([refusal(429, 'rate_limited'), answer(200, { advanced_sec: 30 })]);
    expect(await refused.kopeck.test.clock.advance({ seconds: 30 })).toEqual({ advanced_sec: 30 });
    expect(refused.requests.map(({ body }) => body)).toEqual(['{"advance_sec":30}', '{"advance_sec":30}']);
  });

  test('never follows a redirect', async () => {
    const { kopeck, requests } = scripted([answer(302, '', { location: 'https://elsewhere.example/' })]);
    await expect(kopeck.payments.create(params)).rejects.toMatchObject({ code: 'http_302', sameKey: true });
    expect(requests).toHaveLength(1);
  });
});

describe('time and signals', () => {
  const hanging: typeof fetch = (_url, init) =>
    new Promise((_resolve, reject) =>
      init?.signal?.addEventListener('abort', () => reject(new DOMException('gone', 'AbortError'))),
    );

  test('an attempt that takes too long is retried, and reported as a timeout', async () => {
    const { kopeck, pauses } = scripted([], { fetch: hanging, timeoutMs: 5, maxRetries: 2 });
    const error = await kopeck.payments.create(params).catch(error => error);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({ code: 'timeout', retryable: true, sameKey: true });
    expect(pauses).toHaveLength(2);
  });

  test('a signal ends a call under way with its reason', async () => {
    const { kopeck, pauses } = scripted([], { fetch: hanging });
    const reason = new Error('shutting down');
    await expect(kopeck.payments.create(params, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const leave = new AbortController();
    const call = kopeck.payments.create(params, { signal: leave.signal });
    setTimeout(() => leave.abort(reason), 5);
    await expect(call).rejects.toBe(reason);
    expect(pauses).toEqual([]);
  });

  test('a signal ends a pause', async () => {
    const leave = new AbortController();
    const { kopeck } = scripted([refusal(503, 'maintenance')], { sleep: undefined });
    setTimeout(() => leave.abort(), 20);
    const beganMs = performance.now();
    await expect(kopeck.ping({ signal: leave.signal })).rejects.toThrow(/abort/);
    expect(performance.now() - beganMs).toBeLessThan(1_500);
  });
});

describe('errors', () => {
  test.each([
    [401, 'unauthorized', AuthenticationError],
    [403, 'partner_suspended', PermissionError],
    [400, 'amount_mismatch', InvalidRequestError],
    [422, 'qr_unresolvable', InvalidRequestError],
    [402, 'insufficient_balance', PaymentRefusedError],
    [409, 'duplicate_qr_in_flight', PaymentRefusedError],
    [404, 'not_found', NotFoundError],
    [429, 'rate_limited', RateLimitError],
    [503, 'maintenance', ServiceUnavailableError],
    [500, 'internal_error', ServiceUnavailableError],
    [418, 'teapot', KopeckError],
  ])('%i %s', async (status, code, type) => {
    const { kopeck } = scripted([refusal(status, code)]);
    const error = await kopeck.payments.create(params).catch(error => error);
    expect(error).toBeInstanceOf(type);
    expect(error).toBeInstanceOf(KopeckError);
    expect(error.name).toBe(type.name);
    expect(error).toMatchObject({ code, status, requestId: 'req_1', message: `about ${code}` });
    expect(error.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
    expect(error.retryable).toBe(status === 429 || status === 503);
    expect(error.sameKey).toBe(true);
  });

  test('follow the advice of the service', async () => {
    const advice = { retryable: true, same_key: true };
    const { kopeck } = scripted([refusal(409, 'duplicate_qr_in_flight', advice)]);
    await expect(kopeck.payments.create(params)).rejects.toMatchObject({ retryable: true, sameKey: true });
    const other = scripted([refusal(409, 'qr_changed', { same_key: false })]);
    await expect(other.kopeck.payments.create(params)).rejects.toMatchObject({ sameKey: false });
  });

  test('ask for another key only where this one belongs to another payment', async () => {
    const { kopeck } = scripted([refusal(409, 'idempotency_conflict')]);
    await expect(kopeck.payments.create(params)).rejects.toMatchObject({ retryable: false, sameKey: false });
  });

  test('name the malformed fields and the missing balance', async () => {
    const detail = [{ loc: ['body', 'qr_url'], msg: 'Field required', type: 'missing' }];
    await expect(scripted([answer(422, { detail })]).kopeck.payments.create(params)).rejects.toMatchObject({
      code: 'malformed_request',
      message: 'body.qr_url: Field required',
      details: detail,
    });
    const lacking = { required_usdt: '1.081082', balance_usdt: '0.500000' };
    await expect(
      scripted([refusal(402, 'insufficient_balance', lacking)]).kopeck.payments.create(params),
    ).rejects.toMatchObject({ requiredUsdt: '1.081082', balanceUsdt: '0.500000' });
  });

  test('and the client itself never show the key', async () => {
    const { inspect } = await import('node:util');
    const { kopeck } = scripted([refusal(401, 'unauthorized')]);
    const error = await kopeck.ping().catch(error => error);
    expect(
      inspect([kopeck, error], { depth: 9, showHidden: true }) + JSON.stringify([kopeck, error]),
    ).not.toContain('abc_secret');
  });

  test('of wrong use are thrown at once', async () => {
    expect(() => scripted([], { apiKey: '' })).toThrow(TypeError);
    expect(() => scripted([], { apiKey: 'svc_test_a\nb' })).toThrow(TypeError);
    expect(() => scripted([], { baseUrl: 'pay.example' })).toThrow(/URL/);
    await expect(scripted([ok]).kopeck.payments.create(params, { idempotencyKey: 'ключ' })).rejects.toThrow(
      TypeError,
    );
  });
});

test('a statement that is cut off before its digest is requested again', async () => {
  const whole = 'record,number\nopening,\ndigest,sha256:00\n';
  const { kopeck, requests } = scripted([answer(200, 'record,number\nopening,\n'), answer(200, whole)]);
  expect(await kopeck.statement({ day: '2026-11-14', format: 'csv' })).toBe(whole);
  expect(requests.map(({ url }) => url)).toEqual(
    Array(2).fill('https://pay.example/base/v1/statement?day=2026-11-14&format=csv'),
  );
});
