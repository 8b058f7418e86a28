import { expect, test, vi } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { addSigningRoot, createSigningKeys } from '../../src/webhooks/index.ts';
import { keyring } from '../helpers/api.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase } from '../helpers/database.ts';

const derivations = vi.hoisted(() => ({ count: 0 }));
vi.mock('node:crypto', async importOriginal => {
  const original = await importOriginal<typeof import('node:crypto')>();
  const hkdfSync: typeof original.hkdfSync = (...args) => {
    if (`${args[3]}`.startsWith('kopeck webhooks')) derivations.count++;
    return original.hkdfSync(...args);
  };
  return { ...original, hkdfSync };
});

const { pool } = await createDatabase();
const clock = manualClock('2026-11-17T12:00:00Z');
const audit = auditContextOf(pool, clock);
const errors: object[] = [];
const log = { error: (details: object) => void errors.push(details) };
const start = () => createSigningKeys(pool, clock, keyring, log);
const receiver = { partnerId: newId('prt', clock), mode: 'live' as const };

test('that there is no root is not remembered', async () => {
  const keys = start();
  expect(await keys.listPublic(receiver)).toEqual([]);
  await addSigningRoot(audit, keyring);
  expect(await keys.listPublic(receiver)).toHaveLength(1);
  await keys.current(receiver);
});

test('a public key is derived once for its root, partner and mode', async () => {
  const keys = start();
  await addSigningRoot(audit, keyring);
  const listed = await keys.listPublic(receiver);
  expect(listed).toHaveLength(2);
  derivations.count = 0;
  expect(await keys.listPublic(receiver)).toEqual(listed);
  // Also when the roots are read again.
  clock.advance(60_000);
  expect(await keys.listPublic(receiver)).toEqual(listed);
  expect(derivations.count).toBe(0);
  const ofTest = await keys.listPublic({ ...receiver, mode: 'test' });
  const ofOther = await keys.listPublic({ ...receiver, partnerId: newId('prt', clock) });
  expect(derivations.count).toBe(4);
  const all = [listed, ofTest, ofOther].flat().map(({ publicKey }) => publicKey.toString('hex'));
  expect(new Set(all).size).toBe(6);
});

test('a root that cannot be decrypted is left out and logged once', async () => {
  await pool.query(
    `INSERT INTO signing_keys (id, private_key, created_at, signs_from)
     VALUES (gen_random_uuid(), '\\x0102', '2020-01-01', '2020-01-01')`,
  );
  const keys = start();
  const listed = await keys.listPublic(receiver);
  expect(listed).toHaveLength(2);
  expect(await keys.listPublic(receiver)).toEqual(listed);
  await keys.current(receiver);
  expect(errors).toMatchObject([{ keyId: expect.stringMatching(/^wsk_/) }]);
});
