import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { readSettings } from '../../src/base/settings.ts';
import { isDatabaseUnreachable } from '../../src/db/postgres/database-errors.ts';
import { openDedicatedConnection, tryConnection } from '../../src/db/postgres/dedicated-connection.ts';
import { openPool, type Pool } from '../../src/db/postgres/pool.ts';
import { pickServer } from '../../src/db/postgres/servers.ts';
import { afterFile } from '../helpers/after-file.ts';
import { createAuthority } from '../helpers/certificates.ts';
import { createDatabase } from '../helpers/database.ts';
import { openDatabaseHost } from '../helpers/database-host.ts';
import { newFolder } from '../helpers/folders.ts';

const databases = await Promise.all([createDatabase(), createDatabase()]);
const [one, two] = databases.map(({ pool }) => pool.options.database!) as [string, string];
const hosts = [await openDatabaseHost(one), await openDatabaseHost(two)] as const;
const { user } = inject('connection');

const addressOf = (attributes: string) =>
  `postgresql://${user}:p%40ss@127.0.0.1:${hosts[0].port},localhost:${hosts[1].port}/kopeck${attributes}`;
const open = (url: string) => {
  const pool = openPool({ connectionString: url }, 2);
  afterFile(() => pool.end());
  return pool;
};
const openSession = (pool: Pool) => {
  const session = openDedicatedConnection({ pool, clock: systemClock }, 'test', async () => {});
  afterFile(session.close);
  return session;
};
const whereIs = async (pool: Pick<Pool, 'query'>) =>
  (await pool.query('SELECT current_database() AS name')).rows[0].name;
const setReadOnly = (name: string, isOn: boolean) =>
  databases[0]!.pool.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${isOn}`);
const drop = async (pool: Pool) => {
  const client = await pool.connect();
  client.release(true);
};

describe('an address with several servers', () => {
  test('is a setting', () => {
    const url = addressOf('?target_session_attrs=read-write');
    expect(readSettings({ DATABASE_URL: url }).databaseUrl).toBe(url);
  });

  test('leads to the first that answers', async () => {
    expect(await whereIs(open(addressOf('')))).toBe(one);
    hosts[0].leadTo(undefined);
    expect(await whereIs(open(addressOf('?target_session_attrs=any')))).toBe(two);
    hosts[0].leadTo(one);
  });

  test.each(['read-write', 'primary'])('leads to the first that is writable, with %s', async attributes => {
    await setReadOnly(one, true);
    expect(await whereIs(open(addressOf(`?target_session_attrs=${attributes}`)))).toBe(two);
    await setReadOnly(one, false);
    expect(await whereIs(open(addressOf(`?target_session_attrs=${attributes}`)))).toBe(one);
  });

  test('leads pool and dedicated sessions to the other one after a fail-over', async () => {
    const pool = open(addressOf('?target_session_attrs=read-write'));
    const session = openSession(pool);
    await expect.poll(() => session.client()).toBeDefined();
    expect([await whereIs(pool), await whereIs(session.client()!)]).toEqual([one, one]);
    hosts[0].leadTo(undefined);
    hosts[0].cutAll();
    await expect.poll(() => whereIs(pool).catch(() => '')).toBe(two);
    await expect.poll(() => session.client()).toBeDefined();
    expect(await whereIs(session.client()!)).toBe(two);
    hosts[0].leadTo(one);
  });

  test('is asked again by each check of the history, though the server chosen last still answers', async () => {
    const pool = open(addressOf('?target_session_attrs=read-write'));
    expect(await whereIs(pool)).toBe(one);
    await setReadOnly(one, true);
    await tryConnection(pool, 'test', {});
    await drop(pool);
    expect(await whereIs(pool)).toBe(two);
    await setReadOnly(one, false);
  });

  test('of which none can be used is unreachable, and dedicated sessions go on trying', async () => {
    await setReadOnly(two, true);
    hosts[0].leadTo(undefined);
    const pool = open(addressOf('?target_session_attrs=read-write'));
    const session = openSession(pool);
    const error = await pool.query('SELECT 1').catch((reason: Error) => reason);
    expect(error).toSatisfy(isDatabaseUnreachable);
    const { message } = error as Error;
    expect(message).toContain(`localhost:${hosts[1].port}: read-only`);
    expect(message).not.toContain('ss@');
    await setReadOnly(two, false);
    await expect.poll(() => session.client()).toBeDefined();
    hosts[0].leadTo(one);
  });
});

test('of two writable servers of one cluster the one with the newer timeline is right, whatever their order', () => {
  const answer = (system: string, timeline: number | null) =>
    ({ status: 'fulfilled', value: { system, timeline } }) as const;
  const refused = { status: 'rejected', reason: new Error() } as const;
  expect(pickServer([answer('a', 1), answer('a', 2)], true)).toBe(1);
  expect(pickServer([answer('a', 2), answer('a', 1)], true)).toBe(0);
  expect(pickServer([answer('a', 1), answer('b', 2)], true)).toBe(0);
  expect(pickServer([refused, answer('a', null), answer('a', 1)], true)).toBe(2);
  expect(pickServer([refused, answer('a', null)], true)).toBeUndefined();
  expect(pickServer([refused, answer('a', null), answer('a', 1)], false)).toBe(1);
});

test('the certificate of each server is verified for its own name', async () => {
  const authority = createAuthority();
  const ca = join(newFolder(), 'ca.pem');
  writeFileSync(ca, authority.ca);
  const certificate = authority.issue(['localhost']);
  // The first is called by its IP address, which the certificate does not have.
  const [wrong, right] = await Promise.all([
    openDatabaseHost(one, certificate),
    openDatabaseHost(two, certificate),
  ]);
  const url = `postgresql://${user}@127.0.0.1:${wrong.port},localhost:${right.port}/kopeck?sslmode=verify-full&sslrootcert=${encodeURIComponent(ca)}`;
  expect(await whereIs(open(url))).toBe(two);
});
