import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { OperatorError } from '../../base/operator-error.ts';
import { type Queryable, readRows, sqlStateOf } from '../postgres/index.ts';
import { splitStatements } from './sql-statements.ts';

export interface SqlFile {
  /** With its extension. */
  name: string;
  sql: string;
  sha256: string;
  /** It takes the place of all migrations on record. */
  replacesOlder?: boolean;
}

/** The SQL files of a folder (its URL ends with a slash), by name. */
export const readSqlFiles = (folder: URL): SqlFile[] =>
  readdirSync(folder)
    .filter(name => name.endsWith('.sql'))
    .sort()
    .map(name => {
      const sql = readFileSync(new URL(name, folder), 'utf8');
      return { name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
    });

/** A migration may rewrite a large table. */
export const migrationTimeoutMs = 3_600_000;

/**
 * Runs a file, one statement after the other: engines that spread tables over machines refuse several in one message. An
 * error of the server keeps its class and code, and names the file.
 */
export async function runSqlFile(db: Queryable, { name, sql }: SqlFile): Promise<void> {
  for (const text of splitStatements(sql))
    await db.query({ text, query_timeout: migrationTimeoutMs }).catch((error: Error) => {
      error.message = `${name}: ${error.message}`;
      throw error;
    });
}

/** Migrations are numbered without gaps: the version is the place in the list. */
export function loadMigrations(folder: URL): SqlFile[] {
  const files = readSqlFiles(folder);
  files.forEach(({ name }, index) => {
    const expected = String(index + 1).padStart(4, '0');
    if (!name.startsWith(`${expected}_`))
      throw new Error(`migration ${name} is out of sequence: its name must start with ${expected}_`);
  });
  return files;
}

/** `oldest`: the last migration of the release before the one that applied this. Processes that know it may run on it. */
export const migrationsTable = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version int PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp(), oldest int)`;

/** The last migration of the previous release: each release runs beside the one before it. */
export const readPreviousRelease = (database: URL) =>
  Number(readFileSync(new URL('previous-release', database), 'utf8'));

/**
 * Databases of version 0.1.0, which had migrations of its own, are brought over by one file. Its last migration has this checksum;
 * older databases need that version first.
 */
const last01 = {
  name: '0040_one_database.sql',
  sha256: '82cb3be0f09798bf52334d6ece5603826f1a5abbd54edfd8ad5cf8f18fbcf882',
};
const first01 = '0001_baseline.sql';
const from01 = new URL('../../../database/from-0.1.sql', import.meta.url);

/** The database must have no migration that is changed, and of unknown ones only those of the next release. */
export async function compareMigrations(db: Queryable, migrations: SqlFile[]) {
  const rows = await readRows<{ version: number; name: string; sha256: string; oldest: number | null }>(db, {
    text: 'SELECT version, name, sha256, oldest FROM schema_migrations ORDER BY version',
  });
  if (rows[0]?.name === first01) {
    const last = rows.at(-1)!;
    if (last.name !== last01.name || last.sha256 !== last01.sha256)
      throw new OperatorError(
        `The database was last used by a version before 0.1.0 (its last migration is ${last.name}): start version 0.1.0 with it once, then this version.`,
      );
    const [schema, ...later] = migrations;
    const step = { ...schema!, sql: readFileSync(from01, 'utf8'), replacesOlder: true };
    return { pending: [step, ...later], isNewer: false };
  }
  for (const { version, name, sha256, oldest } of rows) {
    const known = migrations[version - 1];
    if (!known && oldest !== null && oldest <= migrations.length) continue;
    if (known?.name !== name) {
      throw new OperatorError(
        `The database has the migration ${name}, which this version does not know: run the newer version.`,
      );
    }
    if (known.sha256 !== sha256) {
      throw new OperatorError(
        `The migration ${known.name} was changed after it was applied: restore it and add a new one instead. If a version between two releases has made this database, create a new one: such databases are not brought over.`,
      );
    }
  }
  // `pending`: those that the database does not have yet. `isNewer`: the next release has migrated it.
  return { pending: migrations.slice(rows.length), isNewer: rows.length > migrations.length };
}

/**
 * Outside a transaction, if a statement fails or the process dies, those before it stay: the next start runs all of them
 * again, so each must be harmless when it is repeated. database/README.md says how to write them.
 */
export async function applyMigration(db: Queryable, migration: SqlFile, oldest: number): Promise<void> {
  await runSqlFile(db, migration).catch(error => {
    // It found what it cannot change, and says what to do.
    throw sqlStateOf(error) === '55000' ? new OperatorError(`The migration ${error.message}.`) : error;
  });
  if (migration.replacesOlder) await db.query({ text: 'DELETE FROM schema_migrations' });
  await db.query({
    text: 'INSERT INTO schema_migrations (version, name, sha256, oldest) VALUES ($1, $2, $3, $4)',
    values: [Number(migration.name.slice(0, 4)), migration.name, migration.sha256, oldest],
  });
}

/** Its first line. For statements that run only outside a transaction, such as CREATE INDEX CONCURRENTLY. */
const outsideMark = '-- outside a transaction\n';
export const isOutside = ({ sql }: SqlFile) => sql.startsWith(outsideMark);
