import { test as base, describe, expect } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { startHeartbeat } from '../../src/db/processes/heartbeat.ts';
import { createKeyring, type Keyring } from '../../src/db/secrets/keyring.ts';
import { findStragglers, resealAll, switchKey, switchKeyWhenEnded } from '../../src/db/secrets/rotation.ts';
import { countValues } from '../../src/db/secrets/sealed-values.ts';
import { followActiveKey } from '../../src/db/secrets/secret-key.ts';
import { createOperator, findEnrolment } from '../../src/operators/index.ts';
import { createAuthenticator, createKey } from '../../src/partners/index.ts';
import { createVault, readSecrets, rotateSecret, setWebhook } from '../../src/webhooks/index.ts';
import { kopeck } from '../helpers/cli.ts';
import { manualClock } from '../helpers/clock.ts';
import { auditContextOf, createDatabase, createFundedPartner } from '../helpers/database.ts';
import { follow } from '../helpers/locks.ts';

const oldKey = 'the first secret key, long enough for it';
const newKey = 'the second secret key, long enough for it';
const idOf = (key: string) => createKeyring([key]).active().id;
const address = '192.0.2.1';
/** Of heartbeats. */
const clock = manualClock();

/** A database that was used with the old key, and what each process has during a rotation. */
async function createWorld() {
  const { pool, url } = await createDatabase();
  const settings = { DATABASE_URL: url, SECRET_KEY: oldKey };
  expect((await kopeck(settings, 'partner', 'list')).code).toBe(0);
  const ringOf = async (...keys: string[]) => {
    const keyring = createKeyring(keys, idOf(oldKey));
    await followActiveKey(pool, keyring);
    return keyring;
  };
  const audit = auditContextOf(pool);
  const run = (env: Record<string, string>, ...args: string[]) =>
    kopeck({ DATABASE_URL: url, ...env }, ...args);
  return { pool, audit, ringOf, run };
}

async function createValues(pool: Pool, keyring: Keyring) {
  const audit = auditContextOf(pool);
  const partnerId = await createFundedPartner(pool, 0n);
  const vault = createVault(keyring);
  await setWebhook(audit, vault, partnerId, 'https://shop.example/hook');
  await rotateSecret(audit, vault, partnerId);
  const secrets = await readSecrets(pool, vault, partnerId, Date.now());
  expect(secrets).toHaveLength(2);
  const creation = await createKey(audit, keyring, { partnerId, mode: 'test', allowedAddresses: [] });
  if (creation.outcome !== 'created') throw new Error(creation.outcome);
  const operator = await createOperator(audit, keyring, {
    name: `op-${partnerId.slice(-8)}`,
    role: 'viewer',
  });
  if (operator.outcome !== 'created') throw new Error(operator.outcome);
  const enrolment = await findEnrolment({ pool, clock: systemClock, keyring }, operator.token);
  return { partnerId, secrets, key: creation.key, token: operator.token, totp: enrolment!.totpSecret };
}

async function expectReadable(
  pool: Pool,
  keyring: Keyring,
  values: Awaited<ReturnType<typeof createValues>>,
) {
  const vault = createVault(keyring);
  expect(await readSecrets(pool, vault, values.partnerId, Date.now())).toEqual(values.secrets);
  const enrolment = await findEnrolment({ pool, clock: systemClock, keyring }, values.token);
  expect(enrolment?.totpSecret).toEqual(values.totp);
}

async function use(pool: Pool, keyring: Keyring, key: string) {
  const authenticator = createAuthenticator(pool, systemClock, keyring);
  const { outcome } = await authenticator.authenticate({ key, address });
  await authenticator.close();
  return outcome;
}

const options = { batch: 2, onProgress: () => {} };
const leftUnder = async (pool: Pool, key: string) =>
  (await countValues(pool))
    .filter(({ keyId }) => keyId === idOf(key))
    .map(({ what, count }) => [what, count]);
const test = base.extend('world', () => createWorld());

describe('a rotation', () => {
  test('leaves everything readable before, during and after, for processes with both keys', async () => {
    const { pool, audit, ringOf } = await createWorld();
    const before = await createValues(pool, await ringOf(oldKey));
    const rolled = await ringOf(newKey, oldKey);
    // A restarted process still seals with the old key: those that were not restarted read what it writes.
    const between = await createValues(pool, rolled);
    await expectReadable(pool, await ringOf(oldKey), between);
    expect(await use(pool, await ringOf(oldKey), between.key)).toBe('ok');

    const running = await ringOf(newKey, oldKey);
    const switched = { outcome: 'switched', from: idOf(oldKey), to: idOf(newKey) };
    expect(await switchKey(audit, rolled)).toEqual(switched);
    // This one does not know of it yet.
    const late = await createValues(pool, running);
    const after = await createValues(pool, rolled);
    for (const values of [before, between, late, after])
      for (const keyring of [rolled, running]) await expectReadable(pool, keyring, values);

    expect(await resealAll(audit, rolled, options)).toEqual({ resealed: 9, unreadable: [] });
    expect(await resealAll(audit, rolled, options)).toEqual({ resealed: 0, unreadable: [] });
    expect(await leftUnder(pool, oldKey)).toEqual([['API keys', 3]]);
    for (const { key } of [before, between, late, after]) {
      expect(await use(pool, running, key)).toBe('ok');
      expect(await use(pool, rolled, key)).toBe('ok');
    }
    expect(await leftUnder(pool, oldKey)).toEqual([]);
    const alone = await ringOf(newKey);
    for (const values of [before, between, late, after]) {
      await expectReadable(pool, alone, values);
      expect(await use(pool, alone, values.key)).toBe('ok');
    }
  });

  test('a wrong key with the right id is not accepted, nor made anew', async () => {
    const { pool, audit, ringOf } = await createWorld();
    const keyring = await ringOf(newKey, oldKey);
    const { key } = await createValues(pool, keyring);
    await switchKey(audit, keyring);
    const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    expect(await use(pool, keyring, wrong)).toBe('unauthorized');
    expect(await leftUnder(pool, oldKey)).toContainEqual(['API keys', 1]);
    expect(await use(pool, keyring, key)).toBe('ok');
  });

  test('is refused while a process runs that does not have the new key', async () => {
    const { pool, audit, ringOf } = await createWorld();
    const lacking = await startHeartbeat({ pool, clock }, { keyring: await ringOf(oldKey) });
    const refused = { outcome: 'processes_lack_key', processes: [{ instance: lacking.instance }] };
    const keyring = await ringOf(newKey, oldKey);
    expect(await switchKey(audit, keyring)).toMatchObject(refused);
    const reported = () => pool.query('SELECT FROM process_beats WHERE key_ids IS NOT NULL');
    await clock.until(async () => expect((await reported()).rowCount).toBe(1));
    expect(await switchKey(audit, keyring)).toMatchObject(refused);
    expect(keyring.active().text).toBe(oldKey);
    await lacking.close();
    // Its last row stays: a beat of the last seconds may be that of a process that reconnects.
    const ended = { instance: lacking.instance, isConnected: false };
    expect(await switchKey(audit, keyring)).toMatchObject({ ...refused, processes: [ended] });
    const waiting = switchKeyWhenEnded(audit, keyring);
    await pool.query(`UPDATE process_beats SET at = at - interval '1 minute'`);
    expect(await waiting).toMatchObject({ outcome: 'switched' });
  });

  test('a version that reports no keys counts as one without the new key', async () => {
    const { pool, audit, ringOf } = await createWorld();
    const earlier = await startHeartbeat({ pool, clock });
    expect(await switchKey(audit, await ringOf(newKey, oldKey))).toMatchObject({
      outcome: 'processes_lack_key',
      processes: [{ instance: earlier.instance, keyIds: null }],
    });
    await earlier.close();
  });

  test('waits until every process has changed over', async ({ world: { pool, audit, ringOf } }) => {
    const ofProcess = await ringOf(newKey, oldKey);
    const running = await startHeartbeat({ pool, clock }, { keyring: ofProcess });
    const reported = () => pool.query('SELECT FROM process_beats WHERE key_ids IS NOT NULL');
    await clock.until(async () => expect((await reported()).rowCount).toBe(1));
    const keyring = await ringOf(newKey, oldKey);
    expect(await switchKey(audit, keyring)).toMatchObject({ outcome: 'switched' });
    expect(await clock.during(findStragglers(pool, systemClock, keyring))).toEqual([]);
    expect(ofProcess.active().text).toBe(newKey);
    await running.close();
  });

  test('a process that starts meanwhile waits for it, and then needs the new key', async () => {
    const { pool, ringOf } = await createWorld();
    const starting = await ringOf(oldKey);
    const rotation = await pool.connect();
    await rotation.query('BEGIN');
    await rotation.query('SELECT FROM service FOR UPDATE');
    const started = follow(
      followActiveKey(pool, starting).then(
        () => 'started',
        (error: Error) => error.message,
      ),
    );
    const waiting = `SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
                      WHERE NOT l.granted AND a.datname = current_database()`;
    await expect.poll(async () => started.hasEnded || (await pool.query(waiting)).rowCount).toBeTruthy();
    await rotation.query(
      `UPDATE service SET secret_key_fingerprint = '${createKeyring([newKey]).active().fingerprint}'`,
    );
    await rotation.query('COMMIT');
    rotation.release();
    expect(await started.result).toMatch(/^The secret key was replaced during the start/);
  });

  test('names a value that no key opens, and goes on with the others', async () => {
    const { pool, audit, ringOf } = await createWorld();
    const keyring = await ringOf(newKey, oldKey);
    const [good, broken] = [await createValues(pool, keyring), await createValues(pool, keyring)];
    await pool.query(`UPDATE endpoints SET secret = '\\x00' || substring(secret FROM 2)
                       WHERE url = 'https://shop.example/hook' AND partner_id = (SELECT max(partner_id::text)::uuid FROM endpoints)`);
    await switchKey(audit, keyring);
    expect(await resealAll(audit, keyring, { ...options, batch: 1 })).toEqual({
      resealed: 5,
      unreadable: [{ what: 'webhook secrets', id: [good.partnerId, broken.partnerId].sort()[1] }],
    });
    const [readable] = [good, broken].sort((a, b) => (a.partnerId < b.partnerId ? -1 : 1));
    await expectReadable(pool, await ringOf(newKey), readable!);
  });
});

describe('the wrong order is refused in one line', () => {
  test('a new key without the old one', async ({ world: { run } }) => {
    expect(await run({ SECRET_KEY: newKey }, 'partner', 'list')).toMatchObject({
      code: 1,
      stderr:
        'SECRET_KEY is not the one this database is used with: put that one back, or into SECRET_KEY_PREVIOUS to replace it.\n',
    });
  });

  test('the old key taken away while something needs it; revoked API keys need none', async () => {
    const { pool, audit, ringOf, run } = await createWorld();
    const keyring = await ringOf(newKey, oldKey);
    await createValues(pool, keyring);
    await switchKey(audit, keyring);
    const alone = { SECRET_KEY: newKey };
    expect(await run(alone, 'partner', 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr: `4 stored secrets need an earlier key (${idOf(oldKey)}): put it back into SECRET_KEY_PREVIOUS, and keep it until \`kopeck secret status\` says that it can go.\n`,
    });
    const both = { ...alone, SECRET_KEY_PREVIOUS: oldKey };
    const rotated = await run(both, 'secret', 'rotate', '--json');
    expect(JSON.parse(rotated.stdout)).toMatchObject({
      switched: false,
      resealed: 3,
      previous_can_go: false,
    });
    expect((await run(alone, 'partner', 'list')).stderr).toMatch(/^1 stored secrets need/);
    await pool.query('UPDATE api_keys SET revoked_at = now()');
    const status = await run(both, 'secret', 'status');
    expect(status.stdout).toContain('SECRET_KEY_PREVIOUS can go.');
    expect((await run(alone, 'partner', 'list')).code).toBe(0);
  });

  test('a key that is not in use yet is no earlier key: the status says what comes next', async () => {
    const { run } = await createWorld();
    const { stdout } = await run({ SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: oldKey }, 'secret', 'status');
    expect(stdout).toContain(
      `SECRET_KEY (${idOf(newKey)}) is not in use yet. 0 of 0 processes have it: when all do, run bin/kopeck secret rotate.`,
    );
  });

  test('rotating without a new key changes nothing and says so', async ({ world: { run } }) => {
    const { code, stdout } = await run({ SECRET_KEY: oldKey }, 'secret', 'rotate');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `The key in use is ${idOf(oldKey)}.\nRe-encrypted: 0.\nThere is no earlier key. How to replace the one in use: docs/operations/secret-key.md\n`,
    });
  });

  test('and the way back works: the old key as SECRET_KEY again', async () => {
    const { pool, ringOf, run } = await createWorld();
    const values = await createValues(pool, await ringOf(oldKey));
    const there = { SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: oldKey };
    const back = { SECRET_KEY: oldKey, SECRET_KEY_PREVIOUS: newKey };
    for (const env of [there, back]) expect((await run(env, 'secret', 'rotate')).code).toBe(0);
    expect(await use(pool, await ringOf(oldKey, newKey), values.key)).toBe('ok');
    await expectReadable(pool, await ringOf(oldKey), values);
    expect((await run({ SECRET_KEY: oldKey }, 'partner', 'list')).code).toBe(0);
  });
});
