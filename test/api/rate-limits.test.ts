import { describe, expect, test } from 'vitest';
import type { Id } from '../../src/base/ids.ts';
import { type Limits, setLimits } from '../../src/partners/index.ts';
import { issueKey, newLink, partnerAt, startApi } from '../helpers/api.ts';
import { create, repeat, startAccessWorld } from './access-world.ts';

const { pool, clock, address, deps, audit, newcomer } = await startAccessWorld();

async function changeLimits(id: Id<'prt'>, key: string, changes: Partial<Limits>) {
  await setLimits(audit, id, changes);
  const current = async () => {
    const known = await deps.authenticator.authenticate({ key, address: '127.0.0.1' });
    return known.outcome === 'ok' && known.limits;
  };
  await expect.poll(current, { interval: 1 }).toMatchObject(changes);
}

type Partner = ReturnType<typeof partnerAt>;
const ping = async (partner: Partner) => (await partner.get('/v1/ping')).status;

/** How many of the calls in a row passed; the refused ones must be the last. */
async function allowed(times: number, call: () => Promise<number>) {
  const statuses = await repeat(times, call);
  const first = statuses.indexOf(429);
  if (first >= 0) expect(new Set(statuses.slice(first))).toEqual(new Set([429]));
  return first < 0 ? times : first;
}

describe('the bucket for creation', () => {
  test('holds 10, and then answers with Retry-After', async () => {
    const { partner } = await newcomer();
    expect(await allowed(10, () => create(partner))).toBe(10);
    const refused = await partner.pay({ qr_url: newLink(10_000) });
    expect({ status: refused.status, code: refused.json.error.code }).toEqual({
      status: 429,
      code: 'rate_limited',
    });
    expect(refused.headers.get('retry-after')).toBe('1');
  });

  test('passes a caller that waits for Retry-After', async () => {
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

  test('is not used by other requests', async () => {
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

  test('answers with Retry-After in whole seconds', async () => {
    const { partner } = await newcomer();
    await repeat(20, () => ping(partner));
    expect((await partner.get('/v1/ping')).headers.get('retry-after')).toBe('1');
  });

  test('holds for 20 at the same time', async () => {
    const { partner } = await newcomer();
    const statuses = await Promise.all(Array.from({ length: 25 }, () => ping(partner)));
    expect(statuses.filter(status => status === 200)).toHaveLength(20);
  });

  test('is one for all these endpoints', async () => {
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

  test('of live mode is separate from that of test mode', async () => {
    const { partnerId: id, partner } = await newcomer();
    const live = partnerAt(address, await issueKey(pool, id, 'live'));
    await repeat(10, () => create(partner));
    expect(await allowed(11, () => create(live))).toBe(10);
  });

  test('of one partner is separate from that of another', async () => {
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
    expect(statuses.filter(status => status === 200)).toHaveLength(20);
  });

  test('gives no token to callers without access', async () => {
    const { partnerId: id, partner } = await newcomer();
    const foreign = partnerAt(address, await issueKey(pool, id, 'test', ['192.0.2.1']));
    expect(await repeat(12, () => create(foreign))).toEqual(Array(12).fill(403));
    expect(await allowed(11, () => create(partner))).toBe(10);
  });

  test('follows changes of the limits of the partner', async () => {
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
