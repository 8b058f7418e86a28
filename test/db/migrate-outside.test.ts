import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { openPool, type Pool, transaction } from '../../src/db/postgres/pool.ts';
import { migrate } from '../../src/db/schema/migrate.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';

const database = join(import.meta.dirname, '../../database');
const count = readdirSync(join(database, 'migrations')).length;
const name = `${String(count + 1).padStart(4, '0')}_outside.sql`;

/** This version with one more migration, outside a transaction. */
function versionWith(...statements: string[]): URL {
  const folder = newFolder();
  cpSync(database, folder, { recursive: true });
  const sql = ['-- outside a transaction', ...statements.map(statement => `${statement};`)].join('\n');
  writeFileSync(join(folder, 'migrations', name), sql);
  return pathToFileURL(`${folder}/`);
}

const drop = 'DROP INDEX CONCURRENTLY IF EXISTS partners_by_test';
const create = '-- a; comment\nCREATE INDEX CONCURRENTLY partners_by_test ON partners (name)';
const isApplied = async (pool: Pool) =>
  (await pool.query('SELECT FROM schema_migrations WHERE name = $1', [name])).rowCount === 1;
const found = `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('partners_by_test')`;
const indexes = async (pool: Pool) => (await pool.query(found)).rows;

test('an index is built concurrently, once, by one of many processes, while others wait', async () => {
  const { pool } = await createDatabase();
  const pools = Array.from({ length: 6 }, () => openPool({ ...pool.options }, 2));
  await Promise.all(pools.map(one => migrate(one, { database: versionWith(drop, create) })));
  await Promise.all(pools.map(one => one.end()));
  expect(await indexes(pool)).toEqual([{ valid: true }]);
  expect(await isApplied(pool)).toBe(true);
});

test('writes go on while the index waits for a transaction that began before', async () => {
  const { pool } = await createDatabase();
  let migrated: Promise<void> | undefined;
  await transaction(pool, async tx => {
    await tx.query({ text: 'UPDATE partners SET name = name' });
    migrated = migrate(pool, { database: versionWith(drop, create) });
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database()
                        AND query LIKE 'CREATE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock'`;
    await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(1);
    // Behind a CREATE INDEX in a transaction this would wait, and fail after the lock timeout.
    await pool.query('INSERT INTO partners SELECT * FROM partners WHERE false');
    await pool.query("UPDATE partners SET name = name WHERE name = 'nobody'");
    expect(await isApplied(pool)).toBe(false);
  });
  await migrated;
  expect(await indexes(pool)).toEqual([{ valid: true }]);
});

test('one that fails half way is named, is not on record, and is run again from its start', async () => {
  const { pool } = await createDatabase();
  const broken = versionWith(drop, create, 'ALTER TABLE partners VALIDATE CONSTRAINT not_there');
  await expect(migrate(pool, { database: broken })).rejects.toThrow(
    `${name}: constraint "not_there" of relation "partners" does not exist`,
  );
  expect(await isApplied(pool)).toBe(false);
  // As after a process that died while it built the index.
  await pool.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'partners_by_test'::regclass`);
  await migrate(pool, { database: versionWith(drop, create) });
  expect(await indexes(pool)).toEqual([{ valid: true }]);
  expect(await isApplied(pool)).toBe(true);
});
