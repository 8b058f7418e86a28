import { afterAll, test as base, expect } from 'vitest';
import { takeDailyChange } from '../../src/db/audit/daily-changes.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import {
  auditContextOfPerson,
  createKey,
  createPartner,
  revokeKey,
  rollKey,
  setAllowedAddresses,
} from '../../src/partners/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf, createTimedDatabase, keyring, patient } from '../helpers/database.ts';

const { pool, url, clock } = await createTimedDatabase('2026-11-17T12:00:00Z');
/** As two processes. */
const other = openPool({ connectionString: url, ...patient });
afterAll(() => other.end());
const audit = auditContextOf(pool, clock);
/** A member of the team, in two processes. */
const person = { userId: 7n };
const audits = [
  auditContextOfPerson({ pool, clock }, person),
  auditContextOfPerson({ pool: other, clock }, person),
] as const;
const [member] = audits;
const dayMs = 24 * 3_600_000;

type Wanted = Parameters<typeof createKey>[2];
const newPartner = async (): Promise<Wanted> => {
  const { partnerId } = await createPartner(audit, 'Shop');
  return { partnerId, mode: 'test', allowedAddresses: [] };
};
async function issue(wanted: Wanted, own = audit): Promise<string> {
  const creation = await createKey(own, keyring, wanted);
  if (creation.outcome !== 'created') throw new Error(creation.outcome);
  return creation.apiKey.keyId;
}
/** Calls of both processes at once, and how many of them had each outcome. */
async function outcomesOf(
  count: number,
  call: (audit: (typeof audits)[0], nth: number) => Promise<{ outcome: string }>,
) {
  const results = await Promise.all(
    Array.from({ length: count }, (_, nth) => call(audits[nth % 2 ? 1 : 0], nth)),
  );
  const outcomes: Record<string, number> = {};
  for (const { outcome } of results) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  return outcomes;
}
const test = base.extend('wanted', () => newPartner());

test('a partner has at most twenty active keys in each mode, also with creations at once', async () => {
  const wanted = await newPartner();
  const create = (own: typeof audit) => createKey(own, keyring, wanted);
  expect(await outcomesOf(24, create)).toEqual({ created: 20, too_many_keys: 4 });
  await issue({ ...wanted, mode: 'live' });
  await issue(await newPartner());
});

test('a key that ended is not counted, and neither is one that was rolled', async ({ wanted }) => {
  const first = await issue(wanted);
  const second = await issue({ ...wanted, expiresAt: new Date(clock.nowMs() + 1_000) });
  for (let nth = 2; nth < 20; nth++) await issue(wanted);
  await expect(issue(wanted)).rejects.toThrow('too_many_keys');
  await revokeKey(audit, first);
  const third = await issue(wanted);
  await expect(issue(wanted)).rejects.toThrow('too_many_keys');
  expect(await rollKey(audit, keyring, third, dayMs)).toMatchObject({ outcome: 'rolled' });
  await expect(issue(wanted)).rejects.toThrow('too_many_keys');
  clock.advance(2_000);
  expect(await rollKey(audit, keyring, second, dayMs)).toMatchObject({ outcome: 'already_expired' });
  await issue(wanted);
});

/** Fifty changes of a member today, the most there may be. Returns the key that was changed. */
async function useUpDay(wanted: Wanted): Promise<string> {
  const keyId = await issue(wanted, member);
  const rolled = await rollKey(member, keyring, keyId, 1);
  if (rolled.outcome !== 'rolled') throw new Error(rolled.outcome);
  const { keyId: newest } = rolled.apiKey;
  const allow = (own: typeof audit, nth: number) => setAllowedAddresses(own, newest, [`192.0.2.${nth}`]);
  // The first of them is narrower than all addresses, so it is not counted.
  await allow(member, 200);
  expect(await outcomesOf(55, allow)).toEqual({ changed: 48, too_many_key_changes: 7 });
  return newest;
}

test('the keys of a partner change fifty times a day over all processes, and can always be revoked', async () => {
  const wanted = await newPartner();
  const newest = await useUpDay(wanted);
  await expect(issue(wanted, member)).rejects.toThrow('too_many_key_changes');
  expect(await rollKey(member, keyring, newest, 1)).toEqual({ outcome: 'too_many_key_changes' });
  // A stolen key must end, whatever somebody did before.
  expect(await revokeKey(member, newest)).toMatchObject({ outcome: 'revoked' });
  const allowed = `SELECT FROM audit WHERE action = 'key.allow' AND subject = $1`;
  expect((await pool.query(allowed, [newest])).rowCount).toBe(49);
  await issue(await newPartner(), member);
  // The next day in UTC.
  clock.advance(dayMs / 2);
  await issue(wanted, member);
});

test('changes of test keys keep nobody from changing live keys, nor operators from anything', async () => {
  const wanted = await newPartner();
  const testKey = await useUpDay(wanted);
  const liveKey = await issue({ ...wanted, mode: 'live' }, member);
  expect(await rollKey(member, keyring, liveKey, 1)).toMatchObject({ outcome: 'rolled' });
  await issue(wanted, audit);
  expect(await setAllowedAddresses(audit, testKey, [])).toMatchObject({ outcome: 'changed' });
  expect(await rollKey(audit, keyring, testKey, 1)).toMatchObject({ outcome: 'rolled' });
});

test('a key is restricted or replaced at once also when the changes of the day are used up', async () => {
  const keyId = await useUpDay(await newPartner());
  await setAllowedAddresses(audit, keyId, ['192.0.2.0/24', '2001:db8::/32']);
  const allow = async (...addresses: string[]) =>
    (await setAllowedAddresses(member, keyId, addresses)).outcome;
  expect(await allow('192.0.2.0/23')).toBe('too_many_key_changes');
  expect(await allow('192.0.2.7', '198.51.100.1')).toBe('too_many_key_changes');
  expect(await allow('::ffff:192.0.2.7')).toBe('too_many_key_changes');
  expect(await allow()).toBe('too_many_key_changes');
  expect(await allow('192.0.2.128/25', '2001:db8:1::/48')).toBe('changed');
  expect(await allow('192.0.2.129')).toBe('changed');
  expect(await rollKey(member, keyring, keyId, 1)).toEqual({ outcome: 'too_many_key_changes' });
  expect(await rollKey(member, keyring, keyId, 0)).toMatchObject({ outcome: 'rolled' });
});

test('processes on both sides of midnight count into one day', async () => {
  const [before, after] = ['2026-11-17T23:59:59.990Z', '2026-11-18T00:00:00.010Z'].map(at => manualClock(at));
  const take = (own = clock) => takeDailyChange(pool, own, 'keys', 'around midnight');
  let taken = 0;
  for (let nth = 0; nth < 120; nth++) if (await take(nth % 2 ? before : after)) taken++;
  expect(taken).toBe(50);
});

test('at most twenty rolled keys are valid in each mode, also with rolls at once', async ({ wanted }) => {
  const roll = (keyId: string, overlapMs: number, own = audit) => rollKey(own, keyring, keyId, overlapMs);
  const keys: string[] = [];
  for (let nth = 0; nth < 20; nth++) keys.push(await issue(wanted));
  const newest: string[] = [];
  for (const keyId of keys.slice(0, 18)) {
    const rolled = await roll(keyId, dayMs);
    if (rolled.outcome === 'rolled') newest.push(rolled.apiKey.keyId);
  }
  const left = [...keys.slice(18), ...newest.slice(0, 4)];
  const outcomes = await outcomesOf(6, (own, nth) => roll(left[nth]!, dayMs, own));
  expect(outcomes).toEqual({ rolled: 2, too_many_rolled_keys: 4 });
  const other = newest[10]!;
  expect(await roll(other, 1)).toEqual({ outcome: 'too_many_rolled_keys' });
  // One that is stolen is replaced at once all the same.
  expect(await roll(other, 0)).toMatchObject({ outcome: 'rolled' });
  expect(await roll(await issue({ ...wanted, mode: 'live' }), dayMs)).toMatchObject({ outcome: 'rolled' });
  await revokeKey(audit, keys[0]!);
  expect(await roll(newest[11]!, dayMs)).toMatchObject({ outcome: 'rolled' });
  expect(await roll(newest[12]!, dayMs)).toEqual({ outcome: 'too_many_rolled_keys' });
  clock.advance(dayMs);
  expect(await roll(newest[12]!, dayMs)).toMatchObject({ outcome: 'rolled' });
});

test('what was refused or rolled back is not counted', async ({ wanted }) => {
  const keyId = await issue(wanted, member);
  for (let nth = 0; nth < 60; nth++) await setAllowedAddresses(member, keyId, []);
  await revokeKey(audit, keyId);
  for (let nth = 0; nth < 60; nth++)
    expect((await setAllowedAddresses(member, keyId, ['192.0.2.1'])).outcome).toBe('already_revoked');
  await issue(wanted, member);
});
