import { beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { type Id, timeOfId, uuidFromId } from '../../src/base/ids.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import { revokeKey, setSuspended } from '../../src/partners/index.ts';
import { createRequestLog, findRequest, type RequestLog } from '../../src/request-log/index.ts';
import { storedPath } from '../../src/request-log/stored-path.ts';
import { createPartnerWithKeys, issueKey, newLink, partnerAt, setRate, startApi } from '../helpers/api.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';
import { sendRaw, sendRequest } from '../helpers/raw-http.ts';
import { makeQr, openSimulator } from '../helpers/simulator.ts';

const { pool } = await createDatabase();
const newLog = (db: Queryable = pool) =>
  createRequestLog({ db, clock: systemClock, log: { warn: () => {} }, isDatabaseAnswering: () => true });
/** A new one for each test: stopping it writes what it has. */
let current: RequestLog = newLog();
const requestLog: RequestLog = {
  record: request => current.record(request),
  lost: () => current.lost(),
  stop: () => current.stop(),
};
const { address } = await startApi({ pool, requestLog });
const customer = await createPartnerWithKeys(pool);
const partner = partnerAt(address, customer.testKey);
const keyIdOf = (key: string) => key.split('_')[2];
beforeAll(() => setRate(pool));

async function logged(requestId: string | null | undefined) {
  await current.stop();
  current = newLog();
  return findRequest(pool, requestId as Id<'req'>);
}
const idOf = ({ headers }: { headers: Headers }) => headers.get('x-request-id');
/** What the log has of this request. */
const loggedAs = async (sent: Parameters<typeof sendRequest>[1]) =>
  logged((await sendRequest(address, sent)).headers['x-request-id']);
const known = { partnerId: customer.partnerId, mode: 'test', keyId: keyIdOf(customer.testKey) };

describe('a request is in the log', () => {
  test('that created a payment, with the payment; and one that repeated it', async () => {
    const body = { qr_url: newLink(15_000) };
    const paid = await partner.pay(body, 'the same key');
    const repeated = await partner.pay(body, 'the same key');
    const expected = {
      ...{ ...known, method: 'POST', path: '/v1/payments', paymentId: paid.json.id },
      ...{ status: 200, errorCode: null },
    };
    const found = await logged(idOf(paid));
    expect(found).toMatchObject(expected);
    expect(found!.at.getTime()).toBe(timeOfId(found!.requestId));
    expect(found!.durationMs).toBeGreaterThanOrEqual(0);
    expect(await logged(idOf(repeated))).toMatchObject(expected);

    const read = await partner.get(`/v1/payments/${paid.json.id}`);
    expect(await logged(idOf(read))).toMatchObject({
      ...expected,
      method: 'GET',
      route: '/v1/payments/:payment_id',
      path: `/v1/payments/${paid.json.id}`,
    });
  });

  test('that was refused, with the error code', async () => {
    const tooLow = await partner.pay({ qr_url: newLink(100) });
    expect(tooLow.status).toBe(400);
    const invalid = { ...known, status: 400, errorCode: 'invalid_request', paymentId: null };
    expect(await logged(idOf(tooLow))).toMatchObject(invalid);
    const unreadable = await partner.pay({ qr_url: 7 });
    expect(await logged(idOf(unreadable))).toMatchObject({ ...known, status: 422, errorCode: null });
  });

  test('of a caller without a valid key, whose partner is unknown', async () => {
    const unknown = { partnerId: null, keyId: null, mode: null };
    const refused = { path: '/v1/balance', status: 401, errorCode: 'unauthorized' };
    for (const headers of [{}, { authorization: `Bearer ${customer.testKey}0` }])
      expect(await loggedAs({ path: '/v1/balance', headers })).toMatchObject({ ...unknown, ...refused });
  });

  test('of a partner with a revoked key, from a wrong address, or suspended', async () => {
    const shop = await createPartnerWithKeys(pool);
    const ping = (key: string) => ({ path: '/v1/ping', headers: { authorization: `Bearer ${key}` } });
    const statusOf = async (key: string) => (await sendRequest(address, ping(key))).status;
    const elsewhere = await issueKey(pool, shop.partnerId, 'live', ['192.0.2.1']);
    const expectLogged = async (key: string, mode: string, errorCode: string) =>
      expect(await loggedAs(ping(key))).toMatchObject({
        ...{ partnerId: shop.partnerId, mode, keyId: keyIdOf(key), errorCode },
        status: errorCode === 'unauthorized' ? 401 : 403,
      });
    await expectLogged(elsewhere, 'live', 'ip_not_allowed');
    const audit = auditContextOf(pool);
    await revokeKey(audit, keyIdOf(shop.liveKey)!);
    await expect.poll(() => statusOf(shop.liveKey)).toBe(401);
    await expectLogged(shop.liveKey, 'live', 'unauthorized');
    await setSuspended(audit, shop.partnerId, true);
    await expect.poll(() => statusOf(shop.testKey)).toBe(403);
    await expectLogged(shop.testKey, 'test', 'partner_suspended');
  });

  test('that has no route, with what is surely no personal data', async () => {
    const headers = { authorization: `Bearer ${customer.testKey}` };
    const send = (method: string, path: string) => loggedAs({ method, path, headers });
    const none = { partnerId: null, status: 404, errorCode: 'not_found' };
    const url = `/v1/payment/${customer.testKey}?phone=79161234567`;
    expect(await send('GET', url)).toMatchObject({ ...none, path: '/v1/…/…' });
    expect(await send('DELETE', '/v1/payments')).toMatchObject({ ...none, method: 'DELETE' });
    expect(await send('GET', '/v1/payments/%zz')).toMatchObject({ ...none, path: '/v1/payments/…' });
  });

  test('that is not valid HTTP, or has two hosts', async () => {
    const invalid = { status: 400, errorCode: 'invalid_request' };
    const broken = await sendRaw(address, 'GET /v1/ping HTTP/9.9\r\n\r\n');
    const unread = { method: null, path: null };
    expect(await logged(broken.headers['x-request-id'])).toMatchObject({ ...unread, ...invalid });
    const twoHosts = await sendRaw(address, 'GET /v1/ping HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n');
    expect(await logged(twoHosts.headers['x-request-id'])).toMatchObject({ path: '/v1/ping', ...invalid });
  });

  test('whose caller left before the answer', async () => {
    const bank = await openSimulator();
    const { address: slow, deps } = await startApi({ pool, requestLog, gatewayUrl: bank.address });
    const qr = await makeQr(bank);
    const [sent, released] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
    const { pay } = deps.gateway;
    deps.gateway.pay = async order => {
      sent.resolve(order.paymentId);
      await released.promise;
      return pay(order);
    };
    const leaving = new AbortController();
    const answer = fetch(`${slow}/v1/payments`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer ${customer.liveKey}`, 'idempotency-key': 'left' },
      body: JSON.stringify({ qr_url: qr.link }),
    });
    const paymentId = await sent.promise;
    leaving.abort();
    await expect(answer).rejects.toThrow(/abort/);
    released.resolve();
    const text = 'SELECT status FROM api_requests WHERE payment_id = $1';
    const lines = async () => (await pool.query(text, [uuidFromId(paymentId as Id<'pay'>)])).rows;
    await expect.poll(lines).toEqual([{ status: 200 }]);
  });
});

test('every word of a route is known, for URLs that almost fit', async () => {
  const answer = await fetch(`${address}/openapi.json`);
  const { paths } = (await answer.json()) as { paths: object };
  const routes = Object.keys(paths).filter(path => path.startsWith('/v1/'));
  expect(routes.length).toBeGreaterThan(8);
  for (const route of routes) {
    const path = route.replaceAll(/{\w+}/g, 'pay_01m7ehqr39e00aq7xw60wbe32j');
    expect(storedPath(`${path}/`)).toBe(`${path}/`);
  }
});

test('a request counts as admitted only after it has passed the rate limiter', async () => {
  const { pool: other } = await createDatabase();
  const recorded: Parameters<RequestLog['record']>[0][] = [];
  const note = (request: (typeof recorded)[0]) => void recorded.push(request);
  const { address: at } = await startApi({ pool: other, requestLog: { ...requestLog, record: note } });
  const { testKey, partnerId } = await createPartnerWithKeys(other);
  await partnerAt(at, testKey).get('/v1/ping');
  await other.query('ALTER TABLE rate_buckets RENAME TO no_buckets');
  const failing = partnerAt(at, testKey);
  await expect.poll(async () => (await failing.get('/v1/ping')).status).toBeGreaterThanOrEqual(500);
  expect(recorded[0]).toMatchObject({ isAdmitted: true, status: 200 });
  const refused = { isAdmitted: false, keyHolder: { partnerId }, network: '127.0.0.1' };
  expect(recorded.at(-1)).toMatchObject(refused);
});

describe('the log has', () => {
  test('no secret, no body, no header and no query string', async () => {
    const words = ['s3cret-word', '79161234567', 'Bearer', customer.testKey.slice(-48), 'qr.nspk.ru'];
    const metadata = { phone: '79161234567' };
    await partner.pay({ qr_url: newLink(15_000), external_id: 's3cret-word', metadata });
    await partner.get('/v1/payments?external_id=s3cret-word');
    await partner.get('/v1/payments/s3cret-word');
    await sendRequest(address, { path: '/v1/ping?key=s3cret-word', headers: { cookie: 's3cret-word' } });
    await current.stop();
    current = newLog();
    const { rows } = await pool.query(
      'SELECT r::text AS line FROM api_requests r, unnest($1::text[]) AS word WHERE strpos(r::text, word) > 0',
      [words],
    );
    expect(rows).toEqual([]);
  });

  test('no health check, page or document', async () => {
    for (const path of ['/healthz', '/readyz', '/docs', '/openapi.json', '/wp-login.php'])
      expect(await loggedAs({ path }), path).toBeUndefined();
  });
});

test('a database that does not store the log delays no answer and fails none', async () => {
  await current.stop();
  const { promise: never, resolve: release } = Promise.withResolvers<void>();
  let statements = 0;
  current = newLog({
    query: async () => {
      statements += 1;
      await never;
      throw new Error('no database');
    },
  });
  await partner.get('/v1/ping');
  await expect.poll(() => statements).toBe(1);
  for (let nth = 0; nth < 3; nth++)
    expect((await partner.pay({ qr_url: newLink(15_000) })).json.status).toBe('succeeded');
  release();
  await current.stop();
  expect(current.lost().failed).toBe(4);
  current = newLog();
});
