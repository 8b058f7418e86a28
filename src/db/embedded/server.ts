import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { OperatorError } from '../../base/operator-error.ts';
import { findBinaries } from './binaries.ts';
import {
  type Cluster,
  cannotRun,
  explain,
  findServer,
  openCluster,
  startServer,
  stopServer,
  superuser,
} from './cluster.ts';
import { acquireStartLock, type StartLock } from './start-lock.ts';

export interface EmbeddedServer {
  connection: pg.ClientConfig;
  close(): Promise<void>;
}

const database = 'kopeck';
/** Any number: everybody who uses the server holds this lock shared, and whoever gets it alone may stop it. */
const leaseLock = 718_000_002;
const startTimeoutMs = 300_000;
const pollMs = 20;
const patienceMs = 2_000;

/**
 * One server per data folder, used by any number of processes at once: the first to come starts it, the last to
 * go stops it. Who is there is known to the server itself, as shared holders of an advisory lock, so a process
 * that was killed is forgotten with its connection.
 */
export async function openEmbedded(dataDir: string, say: (line: string) => void): Promise<EmbeddedServer> {
  const cluster = openCluster(dataDir, findBinaries(), say);
  let closing = false;
  let lease = await takeLease(cluster, say);
  const { socketDir, port } = findServer(cluster)!;

  /** When the server dies under us, it is started again, with the lease that was lost with it. */
  function renewWhenLost(client: pg.Client): void {
    client.once('end', async () => {
      while (!closing) {
        try {
          lease = await takeLease(cluster, say);
          return closing ? await leave(lease, cluster) : renewWhenLost(lease);
        } catch (error) {
          say(error instanceof Error ? error.message : String(error));
          await sleep(patienceMs);
        }
      }
    });
  }
  renewWhenLost(lease);

  return {
    connection: { host: socketDir, port, user: superuser, database },
    close: async () => {
      closing = true;
      await leave(lease, cluster);
    },
  };
}

async function takeLease(cluster: Cluster, say: (line: string) => void): Promise<pg.Client> {
  for (;;) {
    const client = await connectOrStart(cluster, say);
    try {
      await client.query(`SELECT pg_advisory_lock_shared(${leaseLock})`);
      await createDatabase(client);
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      // The last user was just leaving and took the server along: the next round starts it anew.
      const serverWasStopped = !(error instanceof pg.DatabaseError) || error.code?.startsWith('57P');
      if (!serverWasStopped) throw error;
    }
  }
}

async function createDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [database]);
  if (rowCount) return;
  await client.query(`CREATE DATABASE ${database}`).catch(error => {
    const alreadyThere = ['42P04', '23505'].includes(error.code);
    if (!alreadyThere) throw error;
  });
}

async function leave(lease: pg.Client, cluster: Cluster): Promise<void> {
  try {
    const { rows } = await lease.query(
      `SELECT pg_advisory_unlock_shared(${leaseLock}), pg_try_advisory_lock(${leaseLock}) AS last`,
    );
    const server = findServer(cluster);
    if (rows[0].last && server) await stopServer(server, cluster);
  } catch {
    // The server is gone already.
  }
  await lease.end().catch(() => {});
}

/** A session on the cluster's server, which is started if none runs; waits while it starts, recovers or stops. */
async function connectOrStart(cluster: Cluster, say: (line: string) => void): Promise<pg.Client> {
  const startedAt = Date.now();
  let attempt: ReturnType<typeof launch> | undefined;
  let turn: StartLock | undefined;
  try {
    for (let told = false; ; await sleep(pollMs)) {
      const client = await connect(cluster);
      if (client) return client;
      turn ??= await acquireStartLock(cluster.dir);
      if (turn && !findServer(cluster)) {
        const failure = attempt?.failure();
        if (failure) throw failure;
        if (!attempt || attempt.isOver()) attempt = launch(cluster);
      }

      const waitedMs = Date.now() - startedAt;
      if (waitedMs > startTimeoutMs) {
        const waited = `${Math.round(waitedMs / 1000)} s`;
        throw new OperatorError(
          `PostgreSQL in ${cluster.dir} is not ready after ${waited}: see ${cluster.logFile}.`,
        );
      }
      if (waitedMs > patienceMs && !told) {
        told = true;
        say(`Waiting for PostgreSQL in ${cluster.dir} …`);
      }
    }
  } finally {
    turn?.release();
  }
}

async function connect(cluster: Cluster): Promise<pg.Client | undefined> {
  const server = findServer(cluster);
  if (!server) return undefined;
  const client = new pg.Client({
    host: server.socketDir,
    port: server.port,
    user: superuser,
    database: 'postgres',
    application_name: 'kopeck lease',
    connectionTimeoutMillis: patienceMs,
  });
  // The end of the connection is noticed by its `end`; without a listener an error would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch {
    return undefined;
  }
}

/** Two reasons to fail pass by themselves: another process was quicker, or a killed server's children linger. */
const passingFailure = /lock file .* already exists|shared memory block/;

function launch(cluster: Cluster) {
  const { child, readOutput } = startServer(cluster);
  let cannotStart: Error | undefined;
  child.once('error', error => {
    cannotStart = cannotRun(child.spawnfile, error);
  });
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  return {
    isOver,
    /** Why it will not help to try again; undefined while it runs, and when somebody else stopped it properly. */
    failure: (): Error | undefined => {
      if (cannotStart || !isOver() || child.exitCode === 0) return cannotStart;
      const output = readOutput();
      return passingFailure.test(output) ? undefined : explain('PostgreSQL did not start', output, cluster);
    },
  };
}
