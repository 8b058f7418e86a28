import { randomBytes } from 'node:crypto';
import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { migrate } from '../../src/db/migrate.ts';
import { findRoles, grantRoles, readOwnRights } from '../../src/db/roles.ts';
import { readFunctionsLock } from '../../src/db/sql-functions.ts';
import { createShard } from '../helpers/create-shard.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';

const database = join(import.meta.dirname, '../../database');

/** A later version: a migration more, and a function that uses it. */
function nextVersion(migration: string, function_: string): URL {
  const folder = newFolder();
  for (const part of ['migrations', 'functions'])
    cpSync(join(database, part), join(folder, part), { recursive: true });
  const last = readdirSync(join(database, 'migrations')).length;
  const { revision } = readFunctionsLock(pathToFileURL(`${database}/`));
  writeFileSync(join(folder, 'previous-release'), `${last}`);
  writeFileSync(join(folder, 'functions.lock'), `${revision + 1} any`);
  writeFileSync(join(folder, `migrations/${`${last + 1}`.padStart(4, '0')}_next.sql`), migration);
  writeFileSync(join(folder, 'functions/notes.sql'), function_);
  return pathToFileURL(`${folder}/`);
}

test('a migration with the mark changes every shard and the views over them, and functions come with it', async () => {
  const { pool } = await createDatabase();
  for (const _ of [1, 2]) await createShard(pool, systemClock);
  await migrate(pool, {
    database: nextVersion(
      '-- each shard\nALTER TABLE webhooks ADD COLUMN note text;',
      'CREATE OR REPLACE FUNCTION notes() RETURNS bigint LANGUAGE sql RETURN (SELECT count(note) FROM webhooks);',
    ),
  });
  const { rows } = await pool.query(
    `SELECT table_schema AS schema FROM information_schema.columns
      WHERE table_name = 'webhooks' AND column_name = 'note' ORDER BY 1`,
  );
  const schemas = ['every_shard', 'public', 'shard_1', 'shard_2'];
  expect(rows.map(({ schema }) => schema)).toEqual(schemas);
  for (const schema of schemas)
    expect((await pool.query(`SELECT ${schema}.notes() AS count`)).rows).toEqual([{ count: 0n }]);
});

test('the roles have their rights in a shard that is made after their grants, and no others', async () => {
  const { pool } = await createDatabase();
  const [run, read] = ['run', 'read'].map(name => `shards_${name}_${randomBytes(4).toString('hex')}`);
  for (const role of [run, read]) await pool.query(`CREATE ROLE ${role} LOGIN`);
  await grantRoles(pool, { run, read });
  await createShard(pool, systemClock);

  const may = async (role: string | undefined, privilege: string, table: string) =>
    (await pool.query('SELECT has_table_privilege($1, $2, $3) AS may', [role, table, privilege])).rows[0].may;
  for (const schema of ['public', 'shard_1']) {
    expect(await may(run, 'INSERT', `${schema}.payments`)).toBe(true);
    expect(await may(run, 'UPDATE', `${schema}.entries`)).toBe(false);
    expect(await may(run, 'DELETE', `${schema}.payments`)).toBe(false);
    expect(await may(read, 'SELECT', `${schema}.payments`)).toBe(true);
    expect(await may(read, 'SELECT', `${schema}.webhooks`)).toBe(false);
  }
  expect(await may(run, 'SELECT', 'every_shard.webhooks')).toBe(true);
  expect(await may(read, 'SELECT', 'every_shard.payments')).toBe(true);
  expect(await may(read, 'SELECT', 'every_shard.webhooks')).toBe(false);
  expect(await findRoles(pool)).toEqual({ run: [run], read: [read] });

  const asRun = await pool.connect();
  await asRun.query(`SET ROLE ${run}`);
  expect((await readOwnRights(asRun)).missing).toEqual([]);
  await pool.query(`REVOKE INSERT ON shard_1.payments FROM ${run}`);
  expect((await readOwnRights(asRun)).missing).toEqual(['INSERT on shard_1.payments']);
  asRun.release(true);
});
