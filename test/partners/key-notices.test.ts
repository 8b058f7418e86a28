import { describe, expect, test } from 'vitest';
import { transaction } from '../../src/db/postgres/pool.ts';
import { noticeExpiries, revokeKey, rollKey } from '../../src/partners/index.ts';
import { pruneKeyAddresses } from '../../src/partners/key-addresses.ts';
import { keyring } from '../helpers/partners.ts';
import { createKeysWorld } from './keys-world.ts';

const { pool, clock, audit, issue, startProcess } = await createKeysWorld();
const dayMs = 86_400_000;

const notices = async (keyId: string, kind: string) => {
  const text = `SELECT details FROM partner_notices WHERE details->>'key_id' = $1 AND kind = $2 ORDER BY id`;
  return (await pool.query(text, [keyId, kind])).rows.map(({ details }) => details);
};

describe('before a key expires the team is notified', () => {
  const expiring = async (keyId: string) => {
    await transaction(pool, tx => noticeExpiries(tx, clock));
    return (await notices(keyId, 'key_expiring')).length;
  };
  const expiresIn = (days: number) => ({ expiresAt: new Date(clock.nowMs() + days * dayMs) });

  test('seven days and one day before, once each', async () => {
    const { keyId } = await issue(expiresIn(30));
    clock.advance(23 * dayMs - 1);
    expect(await expiring(keyId)).toBe(0);
    clock.advance(1);
    expect([await expiring(keyId), await expiring(keyId)]).toEqual([1, 1]);
    clock.advance(6 * dayMs - 1);
    expect(await expiring(keyId)).toBe(1);
    clock.advance(1);
    expect([await expiring(keyId), await expiring(keyId)]).toEqual([2, 2]);
    clock.advance(dayMs);
    expect(await expiring(keyId)).toBe(2);
  });

  test('once if nobody looked for a week', async () => {
    const { keyId } = await issue(expiresIn(30));
    clock.advance(29.5 * dayMs);
    expect([await expiring(keyId), await expiring(keyId)]).toEqual([1, 1]);
  });

  test('not of what was chosen just now, nor of a key that was revoked', async () => {
    const day = await issue(expiresIn(1));
    const week = await issue(expiresIn(7));
    const rolled = await issue();
    await rollKey(audit, keyring, rolled.keyId, dayMs);
    const revoked = await issue(expiresIn(8));
    await revokeKey(audit, revoked.keyId);
    clock.advance(dayMs - 1);
    for (const { keyId } of [day, week, rolled, revoked]) expect(await expiring(keyId)).toBe(0);
    clock.advance(5 * dayMs + 1);
    expect(await expiring(week.keyId)).toBe(1);
    expect(await expiring(revoked.keyId)).toBe(0);
  });
});

describe('of a new address the team is notified', () => {
  const addressesOf = async (keyId: string) =>
    (await notices(keyId, 'key_new_address')).map(({ address }) => address);

  test('once, whichever process sees it, but not of the first one', async () => {
    const { key, keyId } = await issue();
    const [one, other] = [startProcess(), startProcess()];
    for (const from of ['192.0.2.1', '192.0.2.1', '::ffff:192.0.2.1'])
      expect((await one.use(key, from)).outcome).toBe('ok');
    expect(await addressesOf(keyId)).toEqual([]);
    await Promise.all([one.use(key, '198.51.100.7'), other.use(key, '198.51.100.7')]);
    await other.use(key, '192.0.2.1');
    await one.end();
    await other.end();
    const restarted = startProcess();
    await restarted.use(key, '198.51.100.7');
    await restarted.end();
    expect(await addressesOf(keyId)).toEqual(['198.51.100.7']);
  });

  test('by network in IPv6, and not of a use that was refused', async () => {
    const { key, keyId } = await issue({ allowedAddresses: ['2001:db8::/32'] });
    const { use, end } = startProcess();
    await use(key, '2001:db8:1:2::1');
    await use(key, '2001:db8:1:2:ffff::9');
    await use(key, '203.0.113.9');
    await use(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`, '2001:db8:9::1');
    expect(await addressesOf(keyId)).toEqual([]);
    await use(key, '2001:db8:1:3::1');
    expect(await addressesOf(keyId)).toEqual(['2001:db8:1:3::/64']);
    await end();
  });

  test('a key has 200 of them at most, and they go a month after its end', async () => {
    const { key, keyId } = await issue();
    const { use, end } = startProcess();
    await pool.query(
      `INSERT INTO key_addresses (key_id, address, first_used_at) SELECT $1, '10.0.' || n || '.1', $2 FROM generate_series(1, 197) n`,
      [keyId, new Date(clock.nowMs())],
    );
    for (let nth = 198; nth < 205; nth++) expect((await use(key, `10.0.${nth}.1`)).outcome).toBe('ok');
    await end();
    expect(await addressesOf(keyId)).toEqual(['10.0.198.1', '10.0.199.1', '10.0.200.1']);
    const ofKey = 'SELECT FROM key_addresses WHERE key_id = $1';
    const kept = async () => (await pool.query(ofKey, [keyId])).rowCount;
    await revokeKey(audit, keyId);
    clock.advance(30 * dayMs);
    await pruneKeyAddresses(pool, clock);
    expect(await kept()).toBe(200);
    clock.advance(1);
    await pruneKeyAddresses(pool, clock);
    expect(await kept()).toBe(0);
  });
});
