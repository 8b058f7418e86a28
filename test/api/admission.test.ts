import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test as base, expect, vi } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { setLimits } from '../../src/partners/index.ts';
import type { RequestLog } from '../../src/request-log/index.ts';
import { codeOf, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { holdLocks } from '../helpers/locks.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';

const { pool, url } = await createDatabase();
await setRate(pool);
const simulator = await openSimulator();
const record = vi.fn<RequestLog['record']>();
const { address, deps, newPartner } = await startApi({
  pool,
  gatewayUrl: simulator.address,
  maxBeforeDebit: 2,
  requestLog: { record } as never,
});
const test = base.extend('partner', () => newPartner());

test('over its capacity, the service refuses at once and debits nothing', async ({ partner }) => {
  // A lock on the account blocks every debit.
  const { unlock } = await holdLocks(url, 'SELECT FROM accounts WHERE partner_id = $1 FOR UPDATE', [
    uuidFromId(partner.partnerId),
  ]);
  const waiting = [partner.pay({ qr_url: newLink(10_000) }), partner.pay({ qr_url: newLink(10_000) })];
  const key = randomUUID();
  const body = { qr_url: newLink(10_000) };
  await expect.poll(deps.admission.isFull).toBe(true);
  const refused = await partner.pay(body, key);
  expect(codeOf(refused)).toBe('503 gateway_busy');
  expect(refused.headers.get('retry-after')).toBe('1');
  expect((await partner.get('/v1/ping')).status).toBe(200);
  await unlock();
  for (const answer of await Promise.all(waiting)) expect(codeOf(answer)).toBe('200 succeeded');
  expect((await partner.pay(body, key)).json.status).toBe('succeeded');
  expect((await partner.get('/v1/payments')).json.data).toHaveLength(3);
});

/** Orders stay on their way to the bank until the test lets them go. */
function holdOrders() {
  const released = Promise.withResolvers<void>();
  const { pay } = deps.gateway;
  const spy = vi.spyOn(deps.gateway, 'pay').mockImplementation(async order => {
    await released.promise;
    return pay(order);
  });
  return {
    sent: (count: number) => vi.waitFor(() => expect(spy).toHaveBeenCalledTimes(count), 20_000),
    letGo: released.resolve,
  };
}

test('payments that wait for the gateway, and repeats of them, take no place', async () => {
  const { live: partner } = await newPartner();
  const { sent, letGo } = holdOrders();
  const answers: ReturnType<typeof partner.pay>[] = [];
  const key = randomUUID();
  const { link } = await makeQr(simulator);
  answers.push(partner.pay({ qr_url: link }, key));
  await sent(1);
  for (const count of [2, 3]) {
    answers.push(partner.pay({ qr_url: (await makeQr(simulator)).link }));
    await sent(count);
  }
  const waiting = vi.spyOn(deps.outcomeWaiters, 'waitForOutcome');
  for (const count of [1, 2]) {
    answers.push(partner.pay({ qr_url: link }, key));
    await vi.waitFor(() => expect(waiting).toHaveBeenCalledTimes(count), 60_000);
  }
  expect(deps.admission.isFull()).toBe(false);
  letGo();
  const ended = await Promise.all(answers);
  expect(ended.map(({ json }) => json.status)).toEqual(answers.map(() => 'succeeded'));
  expect(new Set(ended.map(({ json }) => json.id)).size).toBe(3);
});

test('a request that ends before its debit gives its place back', async ({ partner }) => {
  for (let refused = 0; refused < 5; refused++)
    expect((await partner.pay({ qr_url: 'nonsense' })).json.error.code).toBe('invalid_qr');
  expect((await partner.pay({ qr_url: newLink(10_000) })).json.status).toBe('succeeded');
});

test('a caller over its rate limit gets 429, however busy the service is', async ({ partner }) => {
  await setLimits(auditContextOf(pool), partner.partnerId, { createRps: 1, createBurst: 1 });
  const places = [deps.admission.enter(), deps.admission.enter()];
  const codes = [];
  for (let asked = 0; asked < 3; asked++)
    codes.push((await partner.pay({ qr_url: newLink(10_000) })).json.error.code);
  expect(codes).toEqual(['gateway_busy', 'rate_limited', 'rate_limited']);
  for (const leave of places) leave();
});

/** All places are taken, and so many requests are checked that no other is. */
function overload() {
  const places = [deps.admission.enter(), deps.admission.enter()];
  const checks = Array.from({ length: 50 }, () => deps.admission.startCheck());
  return {
    freePlaces: () => {
      for (const leave of places) leave();
    },
    end: () => {
      for (const leave of [...places, ...checks]) leave();
    },
  };
}

test('under overload requests are refused before their key is checked, so that a refusal is quick', async () => {
  const partner = await newPartner();
  const { freePlaces, end } = overload();
  const refused = await partnerAt(address, 'sk_test_unknown').pay({ qr_url: newLink(10_000) });
  expect([codeOf(refused), refused.headers.get('retry-after')]).toEqual(['503 gateway_busy', '1']);
  expect((await partner.get('/v1/ping')).status).toBe(200);
  freePlaces();
  // It is worth while to check.
  expect((await partner.pay({ qr_url: newLink(10_000) })).json.status).toBe('succeeded');
  end();
});

test('such a refusal is the answer of the contract, counted and logged like any other', async ({
  partner,
}) => {
  const countOf = async () =>
    (await deps.metrics.getSingleMetricAsString('http_request_duration_seconds')).match(
      /_count\{method="POST",route="\/v1\/payments",status="503"\} (\d+)/,
    )?.[1] ?? '0';
  const refuse = async () => {
    const before = Number(await countOf());
    const { json, headers } = await partner.pay({ qr_url: newLink(10_000) });
    await vi.waitFor(async () => expect(await countOf()).toBe(`${before + 1}`), 60_000);
    const { request_id, ...error } = json.error;
    const [{ requestId, durationMs: _, keyHolder: __, ...logged }] = record.mock.lastCall!;
    expect([headers.get('x-request-id'), requestId]).toEqual([request_id, request_id]);
    const own = ['date', 'x-request-id'];
    return { error, logged, headers: [...headers].filter(([name]) => !own.includes(name)) };
  };
  const places = [deps.admission.enter(), deps.admission.enter()];
  const { logged, ...byRoute } = await refuse();
  for (const leave of places) leave();
  const { end } = overload();
  expect(await refuse()).toEqual({ ...byRoute, logged: { ...logged, isAdmitted: false } });
  end();
});

test('it comes in the order of its connection, and nothing else is refused so', async ({ partner }) => {
  const { end } = overload();
  const body = JSON.stringify({ qr_url: newLink(10_000) });
  const head = (line: string) =>
    `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${partner.testKey}\r\n`;
  const pay = `${head('POST /v1/payments')}Content-Length: ${body.length}\r\n\r\n${body}`;
  const requests = [`${head('GET /v1/payments')}\r\n`, pay, `${head('GET /healthz')}\r\n`, pay];
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  socket.write(`${requests.join('')}${head('GET /readyz')}Connection: close\r\n\r\n`);
  const answers = await text(socket);
  expect(answers.match(/(?<=HTTP\/1.1 )\d+/g)).toEqual(['200', '503', '200', '503', '200']);
  end();
});
