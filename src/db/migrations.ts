import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { OperatorError } from '../base/operator-error.ts';
import type { Queryable } from './pool.ts';

export interface SqlFile {
  /** With its extension. */
  name: string;
  sql: string;
  sha256: string;
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

/** Runs a whole file. An error of the server keeps its class and code, and names the file. */
export async function runSqlFile(tx: Queryable, { name, sql }: SqlFile): Promise<void> {
  await tx.query({ text: sql, query_timeout: migrationTimeoutMs }).catch((error: Error) => {
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

export const migrationsTable = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version int PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT clock_timestamp())`;

/** The migrations that the database does not have yet. It must have none that is changed or unknown. */
export async function pendingMigrations(db: Queryable, migrations: SqlFile[]): Promise<SqlFile[]> {
  const { rows } = await db.query<{ version: number; name: string; sha256: string }>({
    text: 'SELECT version, name, sha256 FROM schema_migrations ORDER BY version',
  });
  for (const applied of rows) {
    const known = migrations[applied.version - 1];
    if (known?.name !== applied.name) {
      throw new OperatorError(
        `The database has the migration ${applied.name}, which this version does not know: run the newer version.`,
      );
    }
    if (known.sha256 !== applied.sha256) {
      throw new OperatorError(
        `The migration ${known.name} was changed after it was applied: restore it and add a new one instead.`,
      );
    }
  }
  return migrations.slice(rows.length);
}

export async function applyMigration(tx: Queryable, migration: SqlFile): Promise<void> {
  await runSqlFile(tx, migration);
  await tx.query({
    text: 'INSERT INTO schema_migrations (version, name, sha256) VALUES ($1, $2, $3)',
    values: [Number(migration.name.slice(0, 4)), migration.name, migration.sha256],
  });
}
