import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { OperatorError } from '../base/operator-error.ts';
import { type Pool, type Queryable, transaction } from './pool.ts';

const directory = new URL('../../migrations/', import.meta.url);

interface Migration {
  version: number;
  name: string;
  sql: string;
  sha256: string;
}

function loadMigrations(): Migration[] {
  const names = readdirSync(directory).filter(name => name.endsWith('.sql'));
  return names.sort().map((name, index) => {
    const version = Number(name.slice(0, 4));
    if (version !== index + 1) throw new Error(`migration ${name} is out of sequence`);
    const sql = readFileSync(new URL(name, directory), 'utf8');
    return { version, name, sql, sha256: createHash('sha256').update(sql).digest('hex') };
  });
}

/** Any number: processes that migrate the same database agree on it and so wait for each other. */
const migrationLock = 718_000_001;
const waitForOthersMs = 60_000;
/** DDL queues behind running statements and everything queues behind it: give way soon, and try again. */
const giveWayAfterMs = 3_000;
const ddlTries = 5;
/** A migration may rewrite a large table. */
const migrationTimeoutMs = 3_600_000;

/** Brings the schema up to date: forward only, each migration in a transaction of its own. */
export async function migrate(pool: Pool, ddlLockTimeoutMs = giveWayAfterMs): Promise<void> {
  const migrations = loadMigrations();
  if (await isUpToDate(pool, migrations)) return;
  while (await applyNext(pool, migrations, ddlLockTimeoutMs));
}

async function isUpToDate(db: Queryable, migrations: Migration[]): Promise<boolean> {
  const { rows } = await db.query<{ exists: boolean }>({
    text: "SELECT to_regclass('schema_migrations') IS NOT NULL AS exists",
  });
  return rows[0]!.exists && (await firstPending(db, migrations)) === undefined;
}

/** Under the lock, applies the first migration that is still missing; false when none is. */
async function applyNext(pool: Pool, migrations: Migration[], ddlLockTimeoutMs: number): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction(pool, async tx => {
        await tx.query({ text: `SET LOCAL lock_timeout = ${waitForOthersMs}` });
        await tx.query({ text: `SET LOCAL statement_timeout = ${migrationTimeoutMs}` });
        await tx.query({
          text: `SELECT pg_advisory_xact_lock(${migrationLock})`,
          query_timeout: migrationTimeoutMs,
        });
        await tx.query({ text: `SET LOCAL lock_timeout = ${ddlLockTimeoutMs}` });
        await tx.query({
          text: `CREATE TABLE IF NOT EXISTS schema_migrations (
            version int PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT clock_timestamp())`,
        });
        const pending = await firstPending(tx, migrations);
        if (!pending) return false;
        await tx.query({ text: pending.sql, query_timeout: migrationTimeoutMs });
        await tx.query({
          text: 'INSERT INTO schema_migrations (version, name, sha256) VALUES ($1, $2, $3)',
          values: [pending.version, pending.name, pending.sha256],
        });
        return true;
      });
    } catch (error) {
      const lockNotAvailable = (error as { code?: string }).code === '55P03';
      if (!lockNotAvailable || tries === ddlTries) throw error;
    }
  }
}

async function firstPending(db: Queryable, migrations: Migration[]): Promise<Migration | undefined> {
  const { rows } = await db.query<{ version: number; name: string; sha256: string }>({
    text: 'SELECT version, name, sha256 FROM schema_migrations ORDER BY version',
  });
  for (const applied of rows) {
    const known = migrations[applied.version - 1];
    if (!known) {
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
  return migrations[rows.length];
}
