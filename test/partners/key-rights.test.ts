import { setImmediate } from 'node:timers/promises';
import { test as base, describe, expect } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import {
  allRights,
  keyState,
  listKeys,
  maxOverlapMs,
  revokeKey,
  rollKey,
  setAllowedAddresses,
  setSuspended,
} from '../../src/partners/index.ts';
import { countWaiting, holdLocks } from '../helpers/locks.ts';
import { keyring } from '../helpers/partners.ts';
import { createKeysWorld } from './keys-world.ts';

const { pool, url, clock, audit, authenticate, issue, startProcess } = await createKeysWorld();
const hourMs = 3_600_000;

async function roll(keyId: string, overlapMs: number) {
  const rolled = await rollKey(audit, keyring, keyId, overlapMs);
  if (rolled.outcome !== 'rolled') throw new Error(rolled.outcome);
  return rolled;
}

const outcomeOf = async (key: string) => (await authenticate(key)).outcome;
const readOnly = { ...allRights, scopes: ['read' as const] };
const test = base.extend('issued', () => issue());

describe('the rights of a key', () => {
  test('come with it, and a key without limits has none', async () => {
    const rights = { scopes: ['pay' as const], maxKopecks: 100n, dailyKopecks: 1_000n };
    const { key, keyId } = await issue({ rights });
    expect(await authenticate(key)).toMatchObject({
      outcome: 'ok',
      rights: { ...rights, turnoverKey: keyId },
    });
    expect(await authenticate((await issue()).key)).not.toHaveProperty('rights');
  });

  test('are all of them for a key from before', async ({ issued: { key, keyId } }) => {
    const old = await pool.query(
      `INSERT INTO api_keys (id, partner_id, mode, hash, allowed_addresses, created_at)
         SELECT 'ffffffffffff', partner_id, mode, hash, allowed_addresses, created_at FROM api_keys WHERE id = $1
         RETURNING scopes, max_kopecks, daily_kopecks, expires_at`,
      [keyId],
    );
    expect(old.rows).toEqual([
      { scopes: ['read', 'pay'], max_kopecks: null, daily_kopecks: null, expires_at: null },
    ]);
    expect(await outcomeOf(key)).toBe('ok');
  });

  test('cannot be widened in the database alone', async () => {
    const { key, keyId } = await issue({ rights: readOnly });
    await pool.query(`UPDATE api_keys SET scopes = '{read,pay}' WHERE id = $1`, [keyId]);
    expect(await outcomeOf(key)).toBe('unauthorized');
  });
});

describe('a key that expires', () => {
  test('is refused like a revoked one from that moment, also while it is cached', async () => {
    const expiresAt = new Date(clock.nowMs() + hourMs);
    const { key, keyId, partnerId } = await issue({ expiresAt });
    clock.advance(hourMs - 1_000);
    expect(await outcomeOf(key)).toBe('ok');
    clock.advance(999);
    // Cached for five seconds, and the row did not change: only its time can refuse it.
    expect(await outcomeOf(key)).toBe('ok');
    clock.advance(1);
    const holder = { partnerId, mode: 'test', keyId };
    expect(await authenticate(key)).toEqual({ outcome: 'unauthorized', holder });
    expect(keyState((await listKeys(pool, partnerId))[0]!, clock)).toBe('expired');
  });
});

describe('a roll', () => {
  test('gives a key with the same rights at once, and both work until the overlap ends', async () => {
    const rights = { scopes: ['pay' as const], maxKopecks: 100n, dailyKopecks: 1_000n };
    const copied = { rights, label: 'Till 4', allowedAddresses: ['192.0.2.0/24'] };
    const first = await issue(copied);
    expect(await outcomeOf(first.key)).toBe('ok');
    const { key, apiKey, old } = await roll(first.keyId, 24 * hourMs);
    expect(apiKey).toMatchObject({ ...copied, expiresAt: null });
    expect(old).toMatchObject({ rolledTo: apiKey.keyId, expiresAt: new Date(clock.nowMs() + 24 * hourMs) });
    expect(await outcomeOf(key)).toBe('ok');
    clock.advance(24 * hourMs - 1);
    expect([await outcomeOf(first.key), await outcomeOf(key)]).toEqual(['ok', 'ok']);
    clock.advance(1);
    expect([await outcomeOf(first.key), await outcomeOf(key)]).toEqual(['unauthorized', 'ok']);
  });

  test('gives no second daily limit: the keys share one turnover, however often they are rolled', async () => {
    const first = await issue({ rights: { ...allRights, dailyKopecks: 1_000n } });
    const second = await roll(first.keyId, hourMs);
    const third = await roll(second.apiKey.keyId, hourMs);
    for (const { key } of [first, second, third])
      expect(await authenticate(key)).toMatchObject({ rights: { turnoverKey: first.keyId } });
  });

  test('keeps the lifetime of the key, and never makes the old one last longer', async () => {
    const first = await issue({ expiresAt: new Date(clock.nowMs() + 30 * 24 * hourMs) });
    clock.advance(29 * 24 * hourMs);
    const { apiKey, old } = await roll(first.keyId, maxOverlapMs);
    expect(apiKey.expiresAt).toEqual(new Date(clock.nowMs() + 30 * 24 * hourMs));
    expect(old.expiresAt).toEqual(new Date(clock.nowMs() + 24 * hourMs));
  });

  test('without an overlap ends the old key at once, in every process', async ({ issued: first }) => {
    const { use, end } = startProcess();
    const elsewhere = async () => (await use(first.key)).outcome;
    await expect.poll(elsewhere).toBe('ok');
    await roll(first.keyId, 0);
    // The clock stands still, so only the notification can have caused it, not the expiry of the cache.
    await expect.poll(elsewhere, { interval: 1, timeout: 1_000 }).toBe('unauthorized');
    await end();
  });

  test('during use refuses no request with either key', async ({ issued: first }) => {
    const keys = [first.key];
    const outcomes = new Set<string>();
    let isRolling = true;
    const use = async () => {
      while (isRolling) {
        for (const outcome of await Promise.all(keys.map(outcomeOf))) outcomes.add(outcome);
        // A cached key is known without I/O.
        await setImmediate();
      }
    };
    const users = Array.from({ length: 8 }, use);
    let last = first.keyId;
    for (let nth = 0; nth < 10; nth++) {
      const rolled = await roll(last, hourMs);
      keys.push(rolled.key);
      last = rolled.apiKey.keyId;
    }
    isRolling = false;
    await Promise.all(users);
    expect([...outcomes]).toEqual(['ok']);
  });

  test('happens once, though it is asked for twice at the same time', async () => {
    const { keyId, partnerId } = await issue();
    const rolls = await Promise.all([1, 2, 3].map(() => rollKey(audit, keyring, keyId, hourMs)));
    const outcomes = rolls.map(({ outcome }) => outcome).sort();
    expect(outcomes).toEqual(['already_rolled', 'already_rolled', 'rolled']);
    expect(await listKeys(pool, partnerId)).toHaveLength(2);
  });

  test('takes over the addresses as they are when it happens', async ({ issued: { keyId, partnerId } }) => {
    const { unlock } = await holdLocks(url, 'SELECT FROM partners WHERE id = $1 FOR UPDATE', [
      uuidFromId(partnerId),
    ]);
    const rolling = roll(keyId, hourMs);
    await expect.poll(() => countWaiting(pool)).toBe(1);
    await setAllowedAddresses(audit, keyId, ['192.0.2.7']);
    await unlock();
    expect((await rolling).apiKey.allowedAddresses).toEqual(['192.0.2.7']);
  });

  test('is refused for keys that have ended, too long an overlap and a suspended partner', async () => {
    const outcome = async (keyId: string, overlapMs = hourMs) =>
      (await rollKey(audit, keyring, keyId, overlapMs)).outcome;
    const { keyId, partnerId } = await issue({ expiresAt: new Date(clock.nowMs() + hourMs) });
    expect(await outcome(keyId, maxOverlapMs + 1)).toBe('overlap_too_long');
    await setSuspended(audit, partnerId, true);
    expect(await outcome(keyId)).toBe('partner_suspended');
    await setSuspended(audit, partnerId, false);
    clock.advance(hourMs);
    expect(await outcome(keyId)).toBe('already_expired');
    const other = await issue({ partnerId });
    await revokeKey(audit, other.keyId);
    expect(await outcome(other.keyId)).toBe('already_revoked');
    expect(await listKeys(pool, partnerId)).toHaveLength(2);
  });

  test('is in the audit log and in a notice to the team, without the key', async () => {
    const { keyId, partnerId } = await issue();
    clock.advance(1);
    const { key, apiKey } = await roll(keyId, hourMs);
    const { rows } = await pool.query(
      `SELECT (SELECT json_agg(a ORDER BY id) FROM audit a WHERE a.subject IN ($1, $2))::text AS audit,
              (SELECT json_agg(n.kind ORDER BY n.id) FROM partner_notices n
                WHERE n.details->>'key_id' = $1 AND n.details->>'new_key_id' = $2) AS notices`,
      [keyId, apiKey.keyId],
    );
    expect(rows[0].notices).toEqual(['key_rolled']);
    expect(rows[0].audit).toContain('key.roll');
    expect(rows[0].audit).not.toContain(key.split('_').at(-1));
    expect((await listKeys(pool, partnerId)).map(one => one.rolledTo)).toEqual([apiKey.keyId, null]);
  });
});
