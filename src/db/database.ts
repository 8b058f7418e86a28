import { resolve } from 'node:path';
import { parseDatabaseUrl } from '../base/database-url.ts';
import { type IfMissing, missingDatabase } from '../base/missing-database.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';
import { hasRestoredMark, openEmbedded, removeRestoredMark } from './embedded/index.ts';
import { createIncarnationGuard, createNewestHistory, joinIncarnation } from './history/index.ts';
import * as postgres from './postgres/index.ts';
import { findRoles, grantRoles, type RoleNames } from './roles/index.ts';
import { hasSchema, migrate } from './schema/index.ts';

export type Database = Awaited<ReturnType<typeof openDatabase>>;

/** What work in the database needs of it. */
export type PoolAndClock = Pick<Database, 'pool' | 'clock'>;

/**
 * Opens the database of the settings: checks and migrates it, measures its clock and joins its incarnation. Fails with one
 * line that names the fix.
 */
export async function openDatabase(
  settings: Settings,
  print: (line: string) => void,
  ifMissing: IfMissing,
  { isRestored = false, history = createNewestHistory() } = {},
) {
  const server = await openServer(settings, print, ifMissing);
  const guard = createIncarnationGuard(history);
  const pool = postgres.openPool({ ...server.connection, check: guard.check, isCurrent: guard.isCurrent });
  const close = async () => {
    await pool.end();
    await server.close();
  };
  try {
    if (settings.databaseUrl) await postgres.refuseTransactionPooling(pool);
    await assertDurable(pool);
    if (ifMissing === 'refuse' && !(await hasSchema(pool))) throw missingDatabase(whereIs(settings));
    await migrateAsUser(pool);
    const clock = await postgres.openDatabaseClock(pool);
    const isMarked = !settings.databaseUrl && hasRestoredMark(settings.dataDir);
    const origin = { place: server.place, isRestored: isRestored || isMarked };
    const joined = await joinIncarnation({ pool, clock }, origin);
    guard.stayWith(joined);
    // Only now: after a crash before this line the next one to open it begins an incarnation again, which is harmless.
    if (isMarked) await removeRestoredMark(settings.dataDir);
    return {
      pool,
      /** Its time, for everything that is stored. */
      clock,
      /** Where it is, for messages. */
      description: describe(settings),
      /** Resolves with a line for people when connections lead to a newer history of it, or after `leave`: open it again. */
      changed: guard.changed,
      /** Nothing is read or written any more. */
      leave: guard.leave,
      close,
    };
  } catch (error) {
    await close();
    throw explainDatabaseError(error, settings);
  }
}

const openServer = async (settings: Settings, print: (line: string) => void, ifMissing: IfMissing) =>
  settings.databaseUrl
    ? { connection: { connectionString: settings.databaseUrl }, place: undefined, close: async () => {} }
    : openEmbedded(resolve(settings.dataDir), print, ifMissing, settings);

/** For `kopeck migrate`: schema and grants only. The roles that have grants already get those of new tables. */
export async function migrateDatabase(
  settings: Settings,
  print: (line: string) => void,
  names: RoleNames,
): Promise<{ migrations: number; roles: { run: string[]; read: string[] } }> {
  const server = await openServer(settings, print, 'refuse');
  const pool = postgres.openPool(server.connection);
  try {
    await assertDurable(pool);
    await migrateAsUser(pool);
    const before = await findRoles(pool);
    for (const kind of ['run', 'read'] as const)
      for (const name of new Set([...before[kind], names[kind]]))
        if (name !== undefined) await grantRoles(pool, { [kind]: name });
    const counted = { text: 'SELECT count(*)::int AS count FROM schema_migrations' };
    return { migrations: await postgres.readValue(pool, counted), roles: await findRoles(pool) };
  } catch (error) {
    throw explainDatabaseError(error, settings);
  } finally {
    await pool.end();
    await server.close();
  }
}

/** The role of the service may not change the schema: its owner does that before. */
async function migrateAsUser(pool: postgres.Pool): Promise<void> {
  try {
    await migrate(pool);
  } catch (error) {
    if (postgres.sqlStateOf(error) !== '42501') throw error;
    const user = await postgres.readValue<string>(pool, { text: 'SELECT current_user AS user' });
    throw new OperatorError(
      `The schema is missing or older than this version, and the database user ${user} may not change it (${(error as Error).message}): first run kopeck migrate --run-role ${user} with the DATABASE_URL of the schema's owner.`,
    );
  }
}

const whereIs = ({ databaseUrl, dataDir }: Settings) =>
  databaseUrl ? { address: addressOf(databaseUrl) } : { dataDir: resolve(dataDir) };

const describe = (settings: Settings) =>
  settings.databaseUrl
    ? `the PostgreSQL ${addressOf(settings.databaseUrl)}`
    : `an embedded PostgreSQL in ${resolve(settings.dataDir)}`;

const minMajor = 15;

/** Money is only safe if COMMIT means written to disk. */
async function assertDurable(db: postgres.Queryable): Promise<void> {
  const rows = await postgres.readRows<{ name: string; setting: string }>(db, {
    text: `SELECT name, setting FROM pg_settings
            WHERE name IN ('server_version_num', 'fsync', 'full_page_writes', 'synchronous_commit')`,
  });
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
  const major = Math.trunc(Number(settings.get('server_version_num')) / 10_000);
  if (major < minMajor) {
    throw new OperatorError(`The database is PostgreSQL ${major}: ${minMajor} or later is needed.`);
  }
  for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
    if (settings.get(name) !== 'off') continue;
    throw new OperatorError(
      `The database runs with ${name} = off and could lose payments in a crash: turn it on.`,
    );
  }
}

/** What an error of the server means for an operator, by its SQLSTATE. */
const known: Record<string, (where: string, message: string) => string> = {
  '53100': where =>
    `The disk of the database ${where} is full; nothing was written. Free some space and try again.`,
  '55P03': (where, message) => `The database ${where} is busy (${message}); nothing was written. Try again.`,
  '25006': (where, message) =>
    `The database ${where} is read-only (${message}): DATABASE_URL must point to the primary server, and default_transaction_read_only must be off there.`,
  '53300': (where, message) =>
    `The database ${where} has no connection left (${message}): end the program that holds them, or raise max_connections.`,
};

/** Turns errors that an operator can fix into one line that says how; other errors are returned as they are. */
export function explainDatabaseError(error: unknown, settings: Settings): unknown {
  if (error instanceof OperatorError || !(error instanceof Error)) return error;
  const where = settings.databaseUrl ? addressOf(settings.databaseUrl) : `in ${settings.dataDir}`;
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  const state = postgres.sqlStateOf(error) ?? '';
  const explanation = known[state]?.(where, message);
  if (explanation !== undefined) return new OperatorError(explanation);
  if (/^(28|3D|42501|53)/.test(state)) {
    return new OperatorError(
      `The database ${where} rejected the connection (${message}): correct DATABASE_URL, or the permissions of its user.`,
    );
  }
  if (!postgres.isDatabaseUnreachable(error)) return error;
  const fix = settings.databaseUrl ? 'check DATABASE_URL and that the server runs' : 'see postgres.log there';
  return new OperatorError(
    `The database ${where} does not answer (${syscall || !message ? code : message}): ${fix}.`,
  );
}

/** Hosts, ports and name only: the address may contain a password. */
const addressOf = (url: string) => `at ${parseDatabaseUrl(url).place}`;
