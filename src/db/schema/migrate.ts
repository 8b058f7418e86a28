import { systemClock } from '../../base/clock.ts';
import { OperatorError } from '../../base/operator-error.ts';
import {
  type Pool,
  type Queryable,
  readValue,
  sqlStateOf,
  transaction,
  withConnection,
} from '../postgres/index.ts';
import {
  applyMigration,
  compareMigrations,
  isOutside,
  loadMigrations,
  migrationsTable,
  migrationTimeoutMs,
  readPreviousRelease,
  type SqlFile,
} from './migrations.ts';
import {
  applyFunctions,
  compareFunctions,
  type FunctionSet,
  functionsTable,
  loadFunctions,
} from './sql-functions.ts';

export const ownDatabase = new URL('../../../database/', import.meta.url);

/** Any number that all processes use: those that migrate the same database wait for each other. */
const migrationLock = 718_000_001;
const waitForOthersMs = 300_000;
const lockAgainMs = 200;
/** DDL waits for running statements, and all later statements wait for it: stop waiting soon, and try again. */
const ddlLockTimeoutMs = 3_000;
const maxTries = 5;

interface Schema {
  migrations: SqlFile[];
  previousRelease: number;
  functions: FunctionSet;
}

/**
 * Brings the schema up to date, as database/README.md describes: forward only, each migration in its own transaction (or outside),
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
    previousRelease: readPreviousRelease(database),
    functions: loadFunctions(database),
  };
  if (await isUpToDate(pool, schema)) return;
  const lockTimeoutMs = options.ddlLockTimeoutMs ?? ddlLockTimeoutMs;
  const untilMs = systemClock.monotonicMs() + waitForOthersMs;
  for (;;) {
    const step = await applyUnderLock(pool, schema, lockTimeoutMs);
    if (step === 'done') return;
    if (step === 'outside') await applyNextOutside(pool, schema, untilMs);
    else if (step === 'locked') await waitForLock(untilMs);
  }
}

/**
 * Another process migrates. It is not waited for inside a statement: that would have a snapshot, and an index that the
 * other one builds concurrently would wait for it to end.
 */
async function waitForLock(untilMs: number): Promise<void> {
  if (systemClock.monotonicMs() > untilMs)
    throw new OperatorError('Another process is still migrating the database: start again when it is done.');
  await systemClock.sleep(lockAgainMs);
}

/** False in an empty database, and in one of another program. */
export const hasSchema = (db: Queryable) =>
  readValue<boolean>(db, {
    text: "SELECT to_regclass('schema_migrations') IS NOT NULL AND to_regclass('schema_functions') IS NOT NULL AS exist",
  });

async function isUpToDate(db: Queryable, { migrations, functions }: Schema): Promise<boolean> {
  if (!(await hasSchema(db))) return false;
  const { pending, isNewer } = await compareMigrations(db, migrations);
  if (pending.length > 0) return false;
  // What the next release has applied stays, whatever it is.
  return isNewer || (await compareFunctions(db, functions)) !== 'outdated';
}

/**
 * How the versions on record differ from this one. The next release has functions of its own; without its migrations nobody has any
 * reason to claim a higher revision, and the functions would stay as they are.
 */
export async function compareRecord(db: Queryable): Promise<{ isNewer: boolean; faults: string[] }> {
  const migrations = loadMigrations(new URL('migrations/', ownDatabase));
  const { pending, isNewer } = await compareMigrations(db, migrations);
  const faults = pending.map(({ name }) => `missing migration ${name}`);
  const functions = await compareFunctions(db, loadFunctions(ownDatabase));
  if (!isNewer && functions !== 'current')
    faults.push(`${functions} functions on record, though the migrations are those of this version`);
  return { isNewer, faults };
}

type Step = 'done' | 'more' | 'outside' | 'locked';

async function applyUnderLock(pool: Pool, schema: Schema, lockTimeoutMs: number): Promise<Step> {
  for (let tries = 1; ; tries++) {
    try {
      return await transaction(pool, async (tx): Promise<Step> => {
        await tx.query({ text: `SET LOCAL lock_timeout = ${lockTimeoutMs}` });
        await tx.query({ text: `SET LOCAL statement_timeout = ${migrationTimeoutMs}` });
        if (!(await tryLock(tx, 'pg_try_advisory_xact_lock'))) return 'locked';
        await tx.query({ text: `${migrationsTable}; ${functionsTable}` });
        return await applyNext(tx, schema);
      });
    } catch (error) {
      const lockNotAvailable = sqlStateOf(error) === '55P03';
      if (!lockNotAvailable || tries === maxTries) throw error;
    }
  }
}

const tryLock = (db: Queryable, lock: string) =>
  readValue<boolean>(db, { text: `SELECT ${lock}(${migrationLock}) AS locked` });

/** The lock is one of the session, which ends with it. Meanwhile another process may have applied the migration. */
async function applyNextOutside(pool: Pool, schema: Schema, untilMs: number): Promise<void> {
  await withConnection(pool, 'migration', { query_timeout: migrationTimeoutMs }, async client => {
    while (!(await tryLock(client, 'pg_try_advisory_lock'))) await waitForLock(untilMs);
    // No limit for locks: what runs outside a transaction waits without making others wait.
    await client.query(`SET lock_timeout = 0; SET statement_timeout = ${migrationTimeoutMs}`);
    const [next] = (await compareMigrations(client, schema.migrations)).pending;
    if (next && isOutside(next)) await applyMigration(client, next, schema.previousRelease);
  });
}

/**
 * Applies the first pending migration. The last one commits together with the functions, so that no process ever sees
 * the tables of one version with the functions of another.
 */
async function applyNext(tx: Queryable, schema: Schema): Promise<Step> {
  const { migrations, functions, previousRelease } = schema;
  const { pending, isNewer } = await compareMigrations(tx, migrations);
  if (isNewer) return 'done';
  const [next, ...later] = pending;
  const state = await compareFunctions(tx, functions);
  if (next && state === 'newer') {
    throw new OperatorError(
      `The database has newer functions than this version, but not its migration ${next.name}: run the newer version.`,
    );
  }
  if (next && isOutside(next)) return 'outside';
  if (next) await applyMigration(tx, next, previousRelease);
  if (later.length > 0) return 'more';
  if (state === 'outdated') await applyFunctions(tx, functions);
  return 'done';
}
