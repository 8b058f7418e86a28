import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { type Id, uuidFromId } from '../../src/base/ids.ts';
import { createKey, revokeKey, setAllowedAddresses, setSuspended } from '../../src/partners/index.ts';
import { createPartnerWithKeys, keyring, partnerAt } from '../helpers/api.ts';
import { postSlowly } from '../helpers/slow-request.ts';
import { startAccessWorld } from './access-world.ts';

const { pool, clock, address, audit, untilApplied } = await startAccessWorld();
const payment = {
  qr_url: 'https://qr.nspk.ru/AD10000000000000000000000000000A?type=02&sum=10000&cur=RUB',
  amount_rub: '100.00',
};
const minuteMs = 60_000;

/** The headers of a payment, which pass; its body ends when the returned function is called. */
async function beginPayment(partnerId: Id<'prt'>, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'idempotency-key': randomUUID() };
  const finish = await postSlowly(`${address}/v1/payments`, headers, payment);
  // The token is taken last of what is done before the body.
  await expect
    .poll(async () => (await tokensOf(partnerId)).rowCount, { interval: 1, timeout: 60_000 })
    .toBe(1);
  return finish;
}

const tokensOf = (partnerId: Id<'prt'>) =>
  pool.query({
    text: `SELECT FROM rate_buckets WHERE partner_id = $1 AND kind = 'create'`,
    values: [uuidFromId(partnerId)],
  });

async function issueUntil(partnerId: Id<'prt'>, expiresAt: Date): Promise<string> {
  const wanted = { partnerId, mode: 'test' as const, allowedAddresses: [], expiresAt };
  const creation = await createKey({ ...audit, clock }, keyring, wanted);
  if (creation.outcome !== 'created') throw new Error(creation.outcome);
  return creation.key;
}

const changes = {
  'is revoked': {
    change: (_partnerId: Id<'prt'>, keyId: string) => revokeKey(audit, keyId),
    status: 401,
    code: 'unauthorized',
  },
  expires: {
    change: async () => clock.advance(minuteMs),
    status: 401,
    code: 'unauthorized',
  },
  'may not be used from this address any more': {
    change: (_partnerId: Id<'prt'>, keyId: string) => setAllowedAddresses(audit, keyId, ['192.0.2.1']),
    status: 403,
    code: 'ip_not_allowed',
  },
  'belongs to a partner that is suspended': {
    change: (partnerId: Id<'prt'>) => setSuspended(audit, partnerId, true),
    status: 403,
    code: 'partner_suspended',
  },
};

describe('a key that, while the body of a payment arrives,', () => {
  test.each(Object.entries(changes))('%s pays nothing', async (_name, { change, status, code }) => {
    const { partnerId, testKey } = await createPartnerWithKeys(pool);
    const key = await issueUntil(partnerId, new Date(clock.nowMs() + minuteMs));
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
