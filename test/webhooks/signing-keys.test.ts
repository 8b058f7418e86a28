import { expect, test } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import { addSigningRoot, createSigningKeys } from '../../src/webhooks/index.ts';
import { keyring } from '../helpers/api.ts';
import { createTimedDatabase } from '../helpers/database.ts';

const { pool, clock, audit } = await createTimedDatabase('2026-11-17T12:00:00Z');
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
  // One that is derived again is another buffer.
  const isKept = async () => {
    const again = await keys.listPublic(receiver);
    return again.every(({ publicKey }, nth) => publicKey === listed[nth]!.publicKey);
  };
  expect(await isKept()).toBe(true);
  // Also when the roots are read again.
  clock.advance(60_000);
  expect(await isKept()).toBe(true);
  const ofTest = await keys.listPublic({ ...receiver, mode: 'test' });
  const ofOther = await keys.listPublic({ ...receiver, partnerId: newId('prt', clock) });
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
