import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import {
  allRights,
  createKey,
  type KeyRights,
  revokeKey,
  setAllowedAddresses,
  setLimits,
  setSuspended,
  type WantedKey,
} from '../../src/partners/index.ts';
import { codeOf, createPartnerWithKeys, issueKey, keyring, newLink, partnerAt } from '../helpers/api.ts';
import { expectError, sendRequest } from '../helpers/raw-http.ts';
import { postSlowly } from '../helpers/slow-request.ts';
import { operations, startAccessWorld } from './access-world.ts';

const { pool, clock, address, audit, untilApplied } = await startAccessWorld();
const { partnerId, testKey } = await createPartnerWithKeys(pool);
const keyWith = (rights: Partial<KeyRights>, more: Partial<WantedKey> = {}) =>
  issueKey(pool, partnerId, 'test', [], { rights: { ...allRights, ...rights }, ...more });
const [readKey, payKey] = [await keyWith({ scopes: ['read'] }), await keyWith({ scopes: ['pay'] })];

describe('a key without the scope', () => {
  test.each(operations)('is refused by %s %s', async (method, path, scope) => {
    const send = (key: string) =>
      sendRequest(address, { method, path, headers: { authorization: `Bearer ${key}` } });
    expectError(await send(scope === 'read' ? payKey : readKey), 403, 'insufficient_scope');
    const allowed = await send(scope === 'read' ? readKey : payKey);
    expect(allowed.text).not.toContain('insufficient_scope');
    expect(allowed.status).not.toBe(403);
  });

  test('is every operation of the document but the key check', async () => {
    const { paths } = (await (await fetch(`${address}/openapi.json`)).json()) as {
      paths: Record<string, object>;
    };
    const documented = Object.entries<object>(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
    );
    const tried = operations.map(
      ([method, path]) => `${method} ${path.split('?')[0]!.replace(/pay_.*/, '{payment_id}')}`,
    );
    expect(documented.sort()).toEqual(['GET /v1/ping', ...tried].sort());
  });

  test('can still be checked with ping', async () => {
    for (const key of [readKey, payKey])
      expect((await partnerAt(address, key).get('/v1/ping')).json).toMatchObject({ ok: true, mode: 'test' });
  });

  test('gets no payment that another key has created with the same idempotency key', async () => {
    const body = { qr_url: newLink(10_000) };
    const key = randomUUID();
    const created = await partnerAt(address, testKey).pay(body, key);
    expect(codeOf(await partnerAt(address, readKey).pay(body, key))).toBe('403 insufficient_scope');
    const replayed = await partnerAt(address, payKey).pay(body, key);
    expect(replayed.json.id).toBe(created.json.id);
  });

  test('takes nothing of the rate of the others', async () => {
    const { partnerId: slow } = await createPartnerWithKeys(pool);
    await setLimits(audit, slow, { createRps: 3, createBurst: 3 });
    const [reader, payer] = [
      await issueKey(pool, slow, 'test', [], { rights: { ...allRights, scopes: ['read'] } }),
      await issueKey(pool, slow, 'test'),
    ].map(key => partnerAt(address, key)) as [ReturnType<typeof partnerAt>, ReturnType<typeof partnerAt>];
    for (let nth = 0; nth < 20; nth++)
      expect(codeOf(await reader.pay({ qr_url: newLink(10_000) }))).toBe('403 insufficient_scope');
    expect(codeOf(await payer.pay({ qr_url: newLink(10_000) }))).toBe('200 succeeded');
  });

  test('is refused for its address first, and for its scope before the body is read', async () => {
    const elsewhere = await keyWith({ scopes: ['read'] }, { allowedAddresses: ['192.0.2.7'] });
    expect(codeOf(await partnerAt(address, elsewhere).pay({ qr_url: newLink(10_000) }))).toBe(
      '403 ip_not_allowed',
    );
    expect(codeOf(await partnerAt(address, readKey).post('/v1/payments', { raw: '{' }))).toBe(
      '403 insufficient_scope',
    );
  });
});

describe('the limits of a key', () => {
  test('per payment are exact, come after those of the partner, and show in payable', async () => {
    const limited = partnerAt(address, await keyWith({ maxKopecks: 10_000n }));
    expect(codeOf(await limited.pay({ qr_url: newLink(10_000) }))).toBe('200 succeeded');
    const refused = await limited.pay({ qr_url: newLink(10_100) });
    expect(codeOf(refused)).toBe('403 key_payment_limit_exceeded');
    expect(refused.json.error.message).toContain('100.00 RUB');
    expect(refused.json.error).toMatchObject({ retryable: false, same_key: true });
    expect(codeOf(await limited.pay({ qr_url: newLink(900) }))).toBe('400 invalid_request');
    expect(codeOf(await limited.pay({ qr_url: newLink(10_000_100) }))).toBe('400 amount_limit_exceeded');
    expect(codeOf(await limited.pay({ qr_url: newLink(10_100), amount_rub: '1.00' }))).toBe(
      '400 amount_mismatch',
    );
    const payable = async (kopecks: number) =>
      (await limited.post('/v1/qr/resolve', { body: { qr_url: newLink(kopecks) } })).json.payable;
    expect([await payable(10_000), await payable(10_100)]).toEqual([true, false]);
    expect(codeOf(await partnerAt(address, testKey).pay({ qr_url: newLink(10_100) }))).toBe('200 succeeded');
  });

  test('per day hold, and a repeat of a payment that was made is answered', async () => {
    const limited = partnerAt(address, await keyWith({ dailyKopecks: 10_000n }));
    const [paid, refused] = [{ qr_url: newLink(10_000) }, { qr_url: newLink(10_000) }];
    const first = await limited.pay(paid, 'of the day');
    expect(codeOf(first)).toBe('200 succeeded');
    expect(codeOf(await limited.pay(refused, 'beyond it'))).toBe('403 key_daily_limit_exceeded');
    const repeated = await limited.pay(paid, 'of the day');
    expect(repeated.json.id).toBe(first.json.id);
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    // The idempotency key of a refused request is free: another key pays it.
    expect(codeOf(await partnerAt(address, testKey).pay(refused, 'beyond it'))).toBe('200 succeeded');
  });
});

async function issueForMinute(partnerId: Id<'prt'>): Promise<string> {
  const expiresAt = new Date(clock.nowMs() + 60_000);
  const wanted = { partnerId, mode: 'test' as const, allowedAddresses: [], expiresAt };
  const creation = await createKey({ ...audit, clock }, keyring, wanted);
  if (creation.outcome !== 'created') throw new Error(creation.outcome);
  return creation.key;
}

test('a key that expires is refused like a revoked one, and its payments are found by another', async () => {
  const key = await issueForMinute(partnerId);
  const body = { qr_url: newLink(10_000) };
  const idempotencyKey = randomUUID();
  const created = await partnerAt(address, key).pay(body, idempotencyKey);
  clock.advance(60_000);
  expect(codeOf(await partnerAt(address, key).pay(body, idempotencyKey))).toBe('401 unauthorized');
  expect((await partnerAt(address, testKey).pay(body, idempotencyKey)).json.id).toBe(created.json.id);
});

/** The headers of a payment, which pass; its body ends when the returned function is called. */
async function beginPayment(partnerId: Id<'prt'>, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'idempotency-key': randomUUID() };
  const finish = await postSlowly(`${address}/v1/payments`, headers, { qr_url: newLink(10_000) });
  // The token is taken last of what is done before the body.
  const tokens = `SELECT FROM rate_buckets WHERE partner_id = $1 AND kind = 'create'`;
  await clock.until(async () => expect((await pool.query(tokens, [uuidFromId(partnerId)])).rowCount).toBe(1));
  return finish;
}

describe('a key that, while the body of a payment arrives,', () => {
  test.each<[string, (partnerId: Id<'prt'>, keyId: string) => Promise<unknown>, number, string]>([
    ['is revoked', (_partnerId, keyId) => revokeKey(audit, keyId), 401, 'unauthorized'],
    ['expires', async () => clock.advance(60_000), 401, 'unauthorized'],
    [
      'may not be used from this address any more',
      (_partnerId, keyId) => setAllowedAddresses(audit, keyId, ['192.0.2.1']),
      ...([403, 'ip_not_allowed'] as const),
    ],
    ['belongs to a partner that is suspended', id => setSuspended(audit, id, true), 403, 'partner_suspended'],
  ])('%s pays nothing', async (_name, change, status, code) => {
    const { partnerId, testKey } = await createPartnerWithKeys(pool);
    const key = await issueForMinute(partnerId);
    const finish = await beginPayment(partnerId, key);
    await change(partnerId, key.split('_')[2]!);
    await untilApplied(key, code);
    expect(await finish()).toMatchObject({ status, json: { error: { code } } });
    await setSuspended(audit, partnerId, false);
    await untilApplied(testKey, 'ok');
    expect((await partnerAt(address, testKey).get('/v1/payments')).json.data).toEqual([]);
  });
});

test('a key that is still valid when the body has arrived was read once', async () => {
  const { partnerId, testKey } = await createPartnerWithKeys(pool);
  const query = vi.spyOn(pool, 'query');
  const finish = await beginPayment(partnerId, testKey);
  expect((await finish()).status).toBe(200);
  const names = query.mock.calls.map(([statement]) => (statement as { name?: string }).name);
  query.mockRestore();
  expect(names.filter(name => name === 'read keys')).toHaveLength(1);
});
