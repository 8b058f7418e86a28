import { dirname } from 'node:path';
import pg from 'pg';
import { systemClock } from '../../base/clock.ts';
import { type IfMissing, missingDatabase } from '../../base/missing-database.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { s3Environment } from '../../base/s3-settings.ts';
import type { Settings } from '../../base/settings.ts';
import { findBinaries } from './binaries.ts';
import { type Cluster, findServer, openCluster, startServer, stopServer, superuser } from './cluster.ts';
import { cannotRun, explain } from './explain.ts';
import { guardServer } from './guard.ts';
import { fileIdentity } from './place.ts';
import { acquireStartLock } from './start-lock.ts';
import { chooseWalArchive, prepareWalArchive, walArchiveFolders, walArchiveSettings } from './wal-archive.ts';

const database = 'kopeck';
/** Any number: every user of the server holds this lock shared; the one that gets it exclusively may stop the server. */
const usageLock = 718_000_002;
const startTimeoutMs = 300_000;
const pollMs = 20;
const retryDelayMs = 2_000;
const connectTimeoutMs = 2_000;
/** After this wait the operator gets a line that explains it. */
const explainAfterMs = 2_000;

/**
 * One server per data folder, used by any number of processes at once: the first one starts it, the last one stops it.
 * Users are counted by the server itself, as shared holders of an advisory lock: a killed process drops out with its
 * connection.
 */
export async function openEmbedded(
  dataDir: string,
  print: (line: string) => void,
  ifMissing: IfMissing,
  { backupDir, s3 }: Pick<Settings, 'backupDir' | 's3'> = { backupDir: undefined, s3: undefined },
) {
  const cluster = openCluster(dataDir, findBinaries(), print, ifMissing, s3Environment(s3));
  if (ifMissing === 'create') await chooseWalArchive(cluster, backupDir);
  let isClosing = false;
  let session = await joinServer(cluster, print, ifMissing);
  const { socketDir, port } = findServer(cluster)!;
  if (ifMissing === 'create') await checkWalArchive(session, cluster, print);

  /** When the server dies, it is started again, and the lock that was lost with it is taken again. */
  function reconnectWhenLost(client: pg.Client): void {
    client.once('end', async () => {
      while (!isClosing) {
        try {
          session = await joinServer(cluster, print, ifMissing);
          return isClosing ? await leaveServer(session, cluster) : reconnectWhenLost(session);
        } catch (error) {
          print(error instanceof Error ? error.message : String(error));
          await systemClock.sleep(retryDelayMs);
        }
      }
    });
  }
  reconnectWhenLost(session);

  return {
    connection: { host: socketDir, port, user: superuser, database },
    /** Where its files are: a copy is elsewhere. */
    place: fileIdentity(cluster.dir),
    close: async () => {
      isClosing = true;
      await leaveServer(session, cluster);
    },
  };
}

async function joinServer(
  cluster: Cluster,
  print: (line: string) => void,
  ifMissing: IfMissing,
): Promise<pg.Client> {
  for (;;) {
    const client = await connectOrStart(cluster, print);
    try {
      await client.query(`SELECT pg_advisory_lock_shared(${usageLock})`);
      if (await hasDatabase(client)) return client;
      if (ifMissing === 'refuse') {
        await leaveServer(client, cluster);
        throw missingDatabase({ dataDir: dirname(cluster.dir) });
      }
      await createDatabase(client);
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      if (error instanceof OperatorError) throw error;
      // The last user was just stopping the server: the next round starts it again.
      const serverWasStopped = !(error instanceof pg.DatabaseError) || error.code?.startsWith('57P');
      if (!serverWasStopped) throw error;
    }
  }
}

/** A server that was running already keeps the settings that it was started with. */
async function checkWalArchive(
  session: pg.Client,
  cluster: Cluster,
  print: (line: string) => void,
): Promise<void> {
  const { rows } = await session.query<{ setting: string }>(
    "SELECT setting FROM pg_settings WHERE name = 'archive_command'",
  );
  const { archive_command = '(disabled)' } = walArchiveSettings(cluster);
  if (rows[0]!.setting !== archive_command)
    print(`The PostgreSQL in ${cluster.dir} was already running: BACKUP_DIR takes effect at its next start.`);
}

/** False after a first start that was killed between two steps. */
async function hasDatabase(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
  return rowCount === 1;
}

async function createDatabase(client: pg.Client): Promise<void> {
  await client.query(`CREATE DATABASE ${database}`).catch(error => {
    const alreadyExists = ['42P04', '23505'].includes(error.code);
    if (!alreadyExists) throw error;
  });
}

async function leaveServer(session: pg.Client, cluster: Cluster): Promise<void> {
  try {
    await session.query(`SELECT pg_advisory_unlock_shared(${usageLock})`);
    await stopAsLast(session, cluster);
  } catch {
    // The server is gone already.
  }
  await session.end().catch(() => {});
}

/** Nobody can use the server while this session has the lock exclusively. */
async function stopAsLast(session: pg.Client, cluster: Pick<Cluster, 'dir'>): Promise<void> {
  const { rows } = await session.query(`SELECT pg_try_advisory_lock(${usageLock}) AS unused`);
  const server = findServer(cluster);
  if (rows[0].unused && server) await stopServer(server, cluster);
}

/** Stops a server that nobody uses any more. */
export async function stopIfUnused(cluster: Pick<Cluster, 'dir'>): Promise<void> {
  const session = await connect(cluster);
  if (!session) return;
  try {
    await stopAsLast(session, cluster);
  } finally {
    await session.end().catch(() => {});
  }
}

/** A session on the server, which is started if it does not run; waits while it starts, recovers or stops. */
async function connectOrStart(cluster: Cluster, print: (line: string) => void): Promise<pg.Client> {
  const startedAt = systemClock.monotonicMs();
  let attempt: ReturnType<typeof launch> | undefined;
  let startLock: Awaited<ReturnType<typeof acquireStartLock>>;
  try {
    for (let isExplained = false; ; await systemClock.sleep(pollMs)) {
      const client = await connect(cluster);
      if (client) return client;
      startLock ??= await acquireStartLock(cluster.dir);
      if (startLock && !findServer(cluster)) {
        const failure = attempt?.failure();
        if (failure) throw failure;
        if (!attempt || attempt.isOver()) {
          await prepareWalArchive(cluster, print);
          attempt = launch(cluster);
        }
      }

      const waitedMs = systemClock.monotonicMs() - startedAt;
      if (waitedMs > startTimeoutMs) {
        const waited = `${Math.round(waitedMs / 1000)} s`;
        throw new OperatorError(
          `PostgreSQL in ${cluster.dir} is not ready after ${waited}: see ${cluster.logFile}.`,
        );
      }
      if (waitedMs > explainAfterMs && !isExplained) {
        isExplained = true;
        print(`Waiting for PostgreSQL in ${cluster.dir} …`);
      }
    }
  } finally {
    startLock?.release();
  }
}

/** Undefined while the server starts, recovers or stops. */
export async function connect(cluster: Pick<Cluster, 'dir'>): Promise<pg.Client | undefined> {
  const server = findServer(cluster);
  if (!server) return undefined;
  const client = new pg.Client({
    host: server.socketDir,
    port: server.port,
    user: superuser,
    database: 'postgres',
    application_name: 'kopeck embedded',
    connectionTimeoutMillis: connectTimeoutMs,
  });
  // `end` reports a broken connection; without this listener an error would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ isReady: boolean }>('SELECT NOT pg_is_in_recovery() AS "isReady"');
    if (rows[0]!.isReady) return client;
    // A restored server can be read before its log is replayed to the end.
    await client.end();
    return undefined;
  } catch {
    await client.end().catch(() => {});
    return undefined;
  }
}

/** Two failures pass with time: another process was faster, or children of a killed server still run. */
const isTemporaryFailure = (output: string) =>
  /shared memory block/.test(output) || (/lock file/.test(output) && /already exists/.test(output));

function launch(cluster: Cluster) {
  const { child, readOutput } = startServer(cluster, walArchiveSettings(cluster), {
    writeTo: walArchiveFolders(cluster),
  });
  if (child.pid !== undefined) guardServer(child.pid, cluster.dir);
  let cannotStart: Error | undefined;
  child.once('error', error => {
    cannotStart = cannotRun(child.spawnfile, error);
  });
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  return {
    isOver,
    /** Why a retry will not help; undefined while it runs, and when another process stopped it properly. */
    failure: (): Error | undefined => {
      if (cannotStart || !isOver() || child.exitCode === 0) return cannotStart;
      const output = readOutput();
      return isTemporaryFailure(output) ? undefined : explain('PostgreSQL did not start', output, cluster);
    },
  };
}
