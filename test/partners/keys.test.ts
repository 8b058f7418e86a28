import { test as base, describe, expect } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { createKeyring } from '../../src/db/secrets/keyring.ts';
import { isAddressAllowed } from '../../src/partners/addresses.ts';
import { isAddressRange, listKeys, revokeKey } from '../../src/partners/index.ts';
import { words } from '../helpers/words.ts';
import { createKeysWorld } from './keys-world.ts';

const { pool, clock, audit, authenticate, issue, startProcess } = await createKeysWorld();
const present = async (key: string, address = '192.0.2.1') => {
  const authentication = await authenticate(key, address);
  if (authentication.outcome !== 'ok') return authentication;
  const { limits, ...rest } = authentication;
  expect(limits.concurrent).toBe(2);
  return rest;
};
const test = base.extend('issued', () => issue());

describe('a key', () => {
  test('is not stored in the database, nor is its secret part', async ({ issued: { key } }) => {
    const secret = key.split('_').at(-1)!;
    const { rows } = await pool.query(
      `SELECT (SELECT json_agg(k) FROM api_keys k)::text || (SELECT json_agg(a) FROM audit a)::text AS everything`,
    );
    expect(rows[0].everything).toContain(key.split('_')[2]);
    expect(rows[0].everything).not.toContain(secret);
  });

  test('is refused when any part of it is changed', async ({ issued: { key } }) => {
    const flip = (at: number) => key.slice(0, at) + (key[at] === '0' ? '1' : '0') + key.slice(at + 1);
    const forgeries = [
      ...[
        '',
        'Bearer',
        `${key} `,
        key.slice(0, -1),
        `${key}0`,
        key.toUpperCase(),
        key.replace('test', 'live'),
      ],
      ...[flip(10), flip(key.length - 1), flip(30), `${key.slice(0, 22)}${'0'.repeat(48)}`],
    ];
    for (const forgery of forgeries)
      expect(await present(forgery), forgery).toEqual({ outcome: 'unauthorized' });
  });

  test('is refused with another SECRET_KEY', async ({ issued: { key } }) => {
    const { use, end } = startProcess(createKeyring(['another secret key, as long as the first']));
    expect(await use(key)).toEqual({ outcome: 'unauthorized' });
    await end();
  });

  test('that is revoked is refused at once by every process, and revoking again changes nothing', async () => {
    const { partnerId, key, keyId } = await issue();
    const { use, end } = startProcess();
    const elsewhere = async () => (await use(key)).outcome;
    await expect.poll(elsewhere).toBe('ok');
    expect((await revokeKey(audit, keyId)).outcome).toBe('revoked');
    // The clock stands still, so only the notification can have caused it, not the expiry of the cache.
    await expect.poll(elsewhere, { interval: 1 }).toBe('unauthorized');
    await end();
    clock.advance(1_000);
    const again = await revokeKey(audit, keyId);
    const [listed] = await listKeys(pool, partnerId);
    expect(again).toEqual({ outcome: 'already_revoked', apiKey: listed });
  });

  test('is not issued for an unknown partner', async () => {
    await expect(issue({ partnerId: newId('prt', clock) })).rejects.toThrow('no_partner');
  });

  test('records its last accepted use, to the minute', async () => {
    const { partnerId, key } = await issue({ allowedAddresses: ['192.0.2.0/24'] });
    const lastUse = async () => (await listKeys(pool, partnerId))[0]!.lastUsedAt?.getTime();
    await present(key, '198.51.100.1');
    expect(await lastUse()).toBeUndefined();
    const first = clock.nowMs();
    await present(key);
    clock.advance(59_999);
    await present(key);
    expect(await lastUse()).toBe(first);
    clock.advance(1);
    await present(key);
    expect(await lastUse()).toBe(first + 60_000);
  });

  test('limited to addresses is refused from others', async () => {
    const { partnerId, key, keyId } = await issue({ allowedAddresses: ['192.0.2.0/24', '2001:db8::/32'] });
    expect((await present(key, '192.0.2.77')).outcome).toBe('ok');
    expect((await present(key, '::ffff:192.0.2.77')).outcome).toBe('ok');
    expect((await present(key, '2001:db8:1::1')).outcome).toBe('ok');
    const refused = { outcome: 'ip_not_allowed', holder: { partnerId, mode: 'test', keyId } };
    expect(await present(key, '192.0.3.1')).toEqual(refused);
    expect(await present(key, '2001:db9::1')).toEqual(refused);
  });
});

describe('address ranges', () => {
  const ranges = words('192.0.2.1 192.0.2.0/24 0.0.0.0/0 2001:db8::1 2001:db8::/32 ::/0');
  test.each(ranges)('%s is one', text => {
    expect(isAddressRange(text)).toBe(true);
  });

  test.each([
    ...['', '1.2.3.4 ', 'localhost', '192.0.2', '192.0.2.1/33', '192.0.2.1/-1', '192.0.2.1/'],
    ...['192.0.2.1/8/8', '::1/129', 'fe80::1%eth0', '010.0.0.1'],
  ])('%j is not an address range', text => {
    expect(isAddressRange(text)).toBe(false);
  });

  test('an empty list allows every address, any other list refuses a missing one', () => {
    expect(isAddressAllowed([], 'unknown')).toBe(true);
    expect(isAddressAllowed(['0.0.0.0/0', '::/0'], 'unknown')).toBe(false);
    expect(isAddressAllowed(['fe80::/10'], 'fe80::1%eth0')).toBe(true);
  });
});
