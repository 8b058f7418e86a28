import { cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test as base, describe, expect } from 'vitest';
import { OperatorError } from '../../src/base/operator-error.ts';
import { openPool, type Pool, transaction } from '../../src/db/postgres/pool.ts';
import { migrate } from '../../src/db/schema/migrate.ts';
import { readFunctionsLock } from '../../src/db/schema/sql-functions.ts';
import { createDatabase } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';

const database = join(import.meta.dirname, '../../database');
const { revision: currentRevision } = readFunctionsLock(pathToFileURL(`${database}/`));
const functionFiles = readdirSync(join(database, 'functions')).sort();
const migrationFiles = readdirSync(join(database, 'migrations')).sort();
const numbered = (place: number, name: string) => `${`${place}`.padStart(4, '0')}_${name}.sql`;
/** The name of a migration that would come next; with 2, of the one after it. */
const next = (name: string, place = 1) => numbered(migrationFiles.length + place, name);

/** The SQL files of another version: those of this one with some changed or added, and as many revisions later. */
function version(changes: Record<string, string>, later = 0): URL {
  const folder = newFolder();
  for (const part of ['migrations', 'functions'])
    cpSync(join(database, part), join(folder, part), { recursive: true });
  const files = { 'previous-release': `${migrationFiles.length}`, ...changes };
  for (const [file, sql] of Object.entries({ ...files, 'functions.lock': `${currentRevision + later} any` }))
    writeFileSync(join(folder, file), sql);
  return pathToFileURL(`${folder}/`);
}

/** A migration that would come next; with 2, after that one. */
const adding = (name: string, sql: string, place = 1) => ({ [`migrations/${next(name, place)}`]: sql });
const answering = (number: number) => ({
  'functions/answer.sql': `CREATE OR REPLACE FUNCTION answer() RETURNS int LANGUAGE sql AS 'SELECT ${number}'`,
});
const answerOf = async (pool: Pool) => (await pool.query('SELECT answer()')).rows[0].answer;
const appliedMigrations = async (pool: Pool) =>
  (await pool.query('SELECT name FROM schema_migrations ORDER BY version')).rows.map(({ name }) => name);
const appliedFunctions = async (pool: Pool) =>
  (await pool.query('SELECT name, revision FROM schema_functions ORDER BY name COLLATE "C"')).rows;

/** Whether each try of this pool to get the lock of the migrations got it. */
function watchTries(pool: Pool): boolean[] {
  const tries: boolean[] = [];
  pool.on('connect', client => {
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<{ rows: object[] }>;
    const watched = (...args: unknown[]) => {
      const answer = query(...args);
      if (!(args[0] as { text?: string }).text?.startsWith('SELECT pg_try_advisory_xact_lock('))
        return answer;
      return answer.then(result => {
        tries.push((result.rows[0] as { locked: boolean }).locked);
        return result;
      });
    };
    Object.assign(client, { query: watched });
  });
  return tries;
}

const newDatabase = async () => (await createDatabase()).pool;
const test = base.extend('database', () => newDatabase());

describe('migrations', () => {
  test('are applied once each, in order, when many processes start at the same time', async () => {
    const { pool: empty } = await createDatabase({ migrated: false });
    const added = version({
      ...adding('second', 'CREATE TABLE second ()'),
      ...adding('third', 'CREATE TABLE third ()', 2),
    });
    const pools = Array.from({ length: 8 }, () => openPool({ ...empty.options }, 2));
    await Promise.all(pools.map(pool => migrate(pool, { database: added })));
    await Promise.all(pools.map(pool => pool.end()));
    expect(await appliedMigrations(empty)).toEqual([...migrationFiles, next('second'), next('third', 2)]);
    expect((await appliedFunctions(empty)).map(({ name }) => name)).toEqual(functionFiles);
  });

  test('wait for another process that is migrating', async ({ database: waiting }) => {
    const added = version(adding('more', 'CREATE TABLE more ()'));
    const own = openPool({ ...waiting.options }, 2);
    const tries = watchTries(own);
    let migrated: Promise<void> | undefined;
    await transaction(waiting, async tx => {
      await tx.query({ text: 'SELECT pg_advisory_xact_lock(718000001)' });
      migrated = migrate(own, { database: added });
      await expect.poll(() => tries.length).toBeGreaterThanOrEqual(2);
      expect(tries).not.toContain(true);
      expect(await appliedMigrations(waiting)).toEqual(migrationFiles);
    });
    await migrated;
    await own.end();
    expect(tries).toContain(true);
    expect(await appliedMigrations(waiting)).toEqual([...migrationFiles, next('more')]);
  });

  test('wait briefly for a lock, roll back, and try again', async ({ database: locked }) => {
    const added = version(adding('more', 'ALTER TABLE partners ADD COLUMN more int'));
    let migrated: Promise<void> | undefined;
    await transaction(locked, async tx => {
      await tx.query({ text: 'LOCK TABLE partners' });
      migrated = migrate(locked, { database: added, ddlLockTimeoutMs: 50 });
      // Two transactions that waited: the first rolled back, the second is another try.
      const tries = new Set<number>();
      while (tries.size < 2) {
        const { rows } = await locked.query(
          `SELECT xact_start FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        for (const { xact_start } of rows) tries.add(xact_start.getTime());
      }
    });
    await migrated;
    expect((await locked.query('SELECT count(more) FROM partners')).rows).toEqual([{ count: 0n }]);
  });

  test('that were changed after they were applied stop the start', async ({ database: changed }) => {
    await changed.query("UPDATE schema_migrations SET sha256 = 'something else'");
    await expect(migrate(changed)).rejects.toThrow(OperatorError);
    await expect(migrate(changed)).rejects.toThrow(/0001_schema\.sql was changed after it was applied/);
  });

  test('of a newer version stop the start', async ({ database: unknown }) => {
    await unknown.query(
      "INSERT INTO schema_migrations (version, name, sha256) VALUES (9999, '9999_future.sql', 'x')",
    );
    await expect(migrate(unknown)).rejects.toThrow(/9999_future\.sql, which this version does not know/);
  });

  test('of the next release do not stop it: both run side by side. Those of a later one do', async () => {
    const beside = await newDatabase();
    const added = version(
      { ...answering(2), ...adding('added', 'ALTER TABLE partners ADD COLUMN added int') },
      2,
    );
    const later = version(
      {
        ...answering(3),
        ...adding('added', 'ALTER TABLE partners ADD COLUMN added int'),
        ...adding('later', 'ALTER TABLE partners ADD COLUMN later int', 2),
        'previous-release': `${migrationFiles.length + 1}`,
      },
      3,
    );
    await migrate(beside, { database: added });
    // Its functions stay, even if this one has others of the same revision.
    for (const revision of [0, 2]) await migrate(beside, { database: version(answering(1), revision) });
    expect(await answerOf(beside)).toBe(2);
    expect(await appliedMigrations(beside)).toEqual([...migrationFiles, next('added')]);
    await migrate(beside, { database: later });
    await migrate(beside, { database: added });
    expect(await answerOf(beside)).toBe(3);
    await expect(migrate(beside)).rejects.toThrow(`${next('later', 2)}, which this version does not know`);
  });

  test('that are out of sequence stop the start', async () => {
    const gap = version(adding('third', 'SELECT', 2));
    await expect(migrate(await newDatabase(), { database: gap })).rejects.toThrow(
      new RegExp(`${next('third', 2)} is out of sequence.*${next('')}`.replace('_.sql', '_')),
    );
  });

  test('that fail leave nothing half done, and are named', async ({ database: failing }) => {
    const added = version(adding('more', 'CREATE TABLE more (); CREATE TABLE partners ()'));
    await expect(migrate(failing, { database: added })).rejects.toThrow(
      `${next('more')}: relation "partners" already exists`,
    );
    expect(await appliedMigrations(failing)).toEqual(migrationFiles);
    await migrate(failing, { database: version(adding('more', 'CREATE TABLE more ()')) });
    expect((await failing.query('SELECT count(*) FROM more')).rows).toEqual([{ count: 0n }]);
  });
});

describe('functions', () => {
  test('are applied again, all in one transaction, when one of them has changed, and only then', async () => {
    const replaced = await newDatabase();
    await migrate(replaced, { database: version(answering(1), 2) });
    const appliedAt = async () =>
      (
        await replaced.query(
          'SELECT count(DISTINCT xmin::text)::int, max(applied_at) AS at FROM schema_functions',
        )
      ).rows[0];
    const before = await appliedAt();
    await migrate(replaced, { database: version(answering(2), 3) });
    const after = await appliedAt();
    expect(await answerOf(replaced)).toBe(2);
    expect([before.count, after.count]).toEqual([1, 1]);
    expect(after.at > before.at).toBe(true);

    const same = version(answering(3), 4);
    await migrate(replaced, { database: same });
    const applied = await replaced.query('SELECT * FROM schema_functions ORDER BY name');
    await migrate(replaced, { database: same });
    expect((await replaced.query('SELECT * FROM schema_functions ORDER BY name')).rows).toEqual(applied.rows);

    // Within a revision: a developer has edited one.
    await migrate(replaced, { database: version(answering(4), 4) });
    expect(await answerOf(replaced)).toBe(4);
  });

  test('stay all as they were when one of them fails, which is named', async ({ database: broken }) => {
    await migrate(broken, { database: version(answering(1), 2) });
    const bad = version(
      { ...answering(2), 'functions/bad.sql': 'CREATE OR REPLACE FUNCTION bad() AS nothing' },
      3,
    );
    await expect(migrate(broken, { database: bad })).rejects.toThrow(/^bad\.sql: syntax error/);
    expect(await answerOf(broken)).toBe(1);
    expect((await appliedFunctions(broken))[0]).toMatchObject({ revision: currentRevision + 2 });
  });

  test('of a newer version stop a process that would have to migrate', async ({ database: behind }) => {
    await migrate(behind, { database: version(answering(2), 3) });
    const branch = version({ ...answering(1), ...adding('branch', 'CREATE TABLE branch ()') }, 2);
    await expect(migrate(behind, { database: branch })).rejects.toThrow(OperatorError);
    expect(await appliedMigrations(behind)).toEqual(migrationFiles);
  });

  test('commit together with the last migration, or neither does', async ({ database: together }) => {
    const trigger = `CREATE FUNCTION answer() RETURNS int LANGUAGE plpgsql AS 'BEGIN RAISE ''no body yet''; END';
                     CREATE TABLE asked (answer int DEFAULT answer())`;
    const bad = version({ ...adding('asked', trigger), 'functions/answer.sql': 'CREATE nothing' });
    await expect(migrate(together, { database: bad })).rejects.toThrow(/^answer\.sql: syntax error/);
    expect(await appliedMigrations(together)).toEqual(migrationFiles);
    await migrate(together, { database: version({ ...answering(5), ...adding('asked', trigger) }) });
    expect(await answerOf(together)).toBe(5);
  });

  test('whose file is gone are dropped', async ({ database: dropped }) => {
    await migrate(dropped, { database: version(answering(1), 2) });
    await migrate(dropped, { database: version({}, 3) });
    await expect(answerOf(dropped)).rejects.toThrow(/answer\(\) does not exist/);
  });
});
