import { OperatorError } from '../base/operator-error.ts';
import {
  applyMigration,
  loadMigrations,
  migrationsTable,
  migrationTimeoutMs,
  pendingMigrations,
  type SqlFile,
} from './migrations.ts';
import { type Pool, type Queryable, sqlStateOf, transaction } from './pool.ts';
import {
  applyFunctions,
  compareFunctions,
  type FunctionSet,
  functionsTable,
  loadFunctions,
} from './sql-functions.ts';

const ownDatabase = new URL('../../database/', import.meta.url);

/** Any number that all processes use: those that migrate the same database wait for each other. */
const migrationLock = 718_000_001;
const waitForOthersMs = 60_000;
/** DDL waits for running statements, and all later statements wait for it: stop waiting soon, and try again. */
const ddlLockTimeoutMs = 3_000;
const maxTries = 5;

interface Schema {
  migrations: SqlFile[];
  functions: FunctionSet;
}

/**
 * Brings the schema up to date, as database/README.md describes: forward only, each migration in its own transaction,
 * and all functions together with the last one. Written by hand: migration libraries neither apply functions again when
 * they change nor keep an older process from replacing newer ones.
 */
export async function migrate(
  pool: Pool,
  options: { database?: URL; ddlLockTimeoutMs?: number } = {},
): Promise<void> {
  const database = options.database ?? ownDatabase;
  const schema = {
    migrations: loadMigrations(new URL('migrations/', database)),
    functions: loadFunctions(database),
  };
  if (await isUpToDate(pool, schema)) return;
  while (await lockAndApplyNext(pool, schema, options.ddlLockTimeoutMs ?? ddlLockTimeoutMs));
}

/** False in an empty database, and in one of another program. */
export async function hasSchema(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ exist: boolean }>({
    text: "SELECT to_regclass('schema_migrations') IS NOT NULL AND to_regclass('schema_functions') IS NOT NULL AS exist",
  });
  return rows[0]!.exist;
}

async function isUpToDate(db: Queryable, { migrations, functions }: Schema): Promise<boolean> {
  if (!(await hasSchema(db)) || (await pendingMigrations(db, migrations)).length > 0) return false;
  return (await compareFunctions(db, functions)) !== 'outdated';
}

/** Returns whether there is more to apply. */
async function lockAndApplyNext(pool: Pool, schema: Schema, lockTimeoutMs: number): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction(pool, async tx => {
        await tx.query({ text: `SET LOCAL lock_timeout = ${waitForOthersMs}` });
        await tx.query({ text: `SET LOCAL statement_timeout = ${migrationTimeoutMs}` });
        await tx.query({
          text: `SELECT pg_advisory_xact_lock(${migrationLock})`,
          query_timeout: migrationTimeoutMs,
        });
        await tx.query({ text: `SET LOCAL lock_timeout = ${lockTimeoutMs}` });
        await tx.query({ text: `${migrationsTable}; ${functionsTable}` });
        return await applyNext(tx, schema);
      });
    } catch (error) {
      const lockNotAvailable = sqlStateOf(error) === '55P03';
      if (!lockNotAvailable || tries === maxTries) throw error;
    }
  }
}

/**
 * Applies the first pending migration. The last one commits together with the functions, so that no process ever sees
 * the tables of one version with the functions of another.
 */
async function applyNext(tx: Queryable, { migrations, functions }: Schema): Promise<boolean> {
  const [next, ...later] = await pendingMigrations(tx, migrations);
  const state = await compareFunctions(tx, functions);
  if (next && state === 'newer') {
    throw new OperatorError(
      `The database has newer functions than this version, but not its migration ${next.name}: run the newer version.`,
    );
  }
  if (next) await applyMigration(tx, next);
  if (later.length > 0) return true;
  if (state === 'outdated') await applyFunctions(tx, functions);
  return false;
}
