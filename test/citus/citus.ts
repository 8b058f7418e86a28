import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { findBinaries } from '../../src/db/embedded/binaries.ts';
import { createDatabaseServer, newPassword } from '../faults/database-server.ts';
import { citusArchive } from './archive.ts';

/**
 * Citus on loopback: a coordinator and its workers, each a PostgreSQL that can be killed, frozen and started again, with the extension in its
 * database `postgres`.
 */
export async function launchCitus(
  folder: string,
  options: { workers: number; settings: string[]; atEnd(cleanUp: () => Promise<void>): unknown },
) {
  const settings = [...citusSettings(unpackCitus(folder)), ...options.settings];
  const password = newPassword();

  const startNode = async (name: string) => {
    const nodeFolder = join(folder, name);
    fs.mkdirSync(nodeFolder);
    const server = await createDatabaseServer(nodeFolder, { settings, password });
    options.atEnd(() => server.kill());
    await server.start();
    /** With what the server has logged. */
    const node = { ...server, url: server.urlAt(server.port), logFile: join(nodeFolder, 'postgres.log') };
    await runOn(node.url, 'CREATE EXTENSION citus');
    return node;
  };

  const startWorker = (nth: number) => startNode(`worker-${nth}`);
  const [coordinator, ...started] = await Promise.all([
    startNode('coordinator'),
    ...Array.from({ length: options.workers }, (_, nth) => startWorker(nth + 1)),
  ]);
  await runOn(coordinator.url, `SELECT citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`);
  const workers: typeof started = [];
  const add = async (worker: (typeof started)[number]) => {
    await runOn(coordinator.url, `SELECT citus_add_node('127.0.0.1', ${worker.port})`);
    workers.push(worker);
    return worker;
  };
  for (const worker of started) await add(worker);
  /** Starts one more worker and adds it to the cluster of the database `postgres`. It has no shard yet. */
  const addNode = async () => add(await startWorker(workers.length + 1));
  return { coordinator, workers, addNode };
}

export type Citus = Awaited<ReturnType<typeof launchCitus>>;

/** The address of another database of the same server. */
export const databaseAt = (url: string, name: string) => url.replace(/\/postgres$/, `/${name}`);

/** Makes a database like the service's own, without Citus, or a copy of one at which nobody is connected. Returns its address. */
export async function createPlainDatabase(server: string, name: string, copyOf?: string): Promise<string> {
  const likeOurs = "template0 ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'";
  // A node passes it on to the others, or warns that it does not.
  await runOn(server, `CREATE DATABASE ${name} TEMPLATE ${copyOf ?? likeOurs} STRATEGY = file_copy`);
  return databaseAt(server, name);
}

/** Makes a database the coordinator of a cluster, as an operator does it: its tables and functions are there before Citus. */
export async function addCitus(url: string, workers: string[]): Promise<void> {
  const { pathname, port } = new URL(url);
  const name = pathname.slice(1);
  await Promise.all(
    workers.map(async worker => runOn(await createPlainDatabase(worker, name), 'CREATE EXTENSION citus')),
  );
  await runOn(url, 'CREATE EXTENSION citus');
  await runOn(url, `SELECT citus_set_coordinator_host('127.0.0.1', ${port})`);
  for (const worker of workers)
    await runOn(url, `SELECT citus_add_node('127.0.0.1', ${new URL(worker).port})`);
}

/** One statement in a session of its own. */
export async function runOn(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function unpackCitus(folder: string): string {
  const unpacked = join(folder, 'citus');
  fs.mkdirSync(unpacked);
  execFileSync('tar', ['-xzf', citusArchive!, '-C', unpacked]);
  // Citus must use the libpq of the server that loads it.
  const native = dirname(dirname(findBinaries().postgres));
  fs.symlinkSync(join(native, 'lib/libpq.so.5'), join(unpacked, 'lib/libpq.so.5'));
  return unpacked;
}

const citusSettings = (unpacked: string) => [
  `dynamic_library_path=${unpacked}/lib/postgresql:$libdir`,
  `extension_control_path=${unpacked}/share/postgresql:$system`,
  'shared_preload_libraries=citus',
  'citus.node_conninfo=sslmode=prefer',
  // For transactions over several nodes, and for shards that move while they serve.
  'max_prepared_transactions=200',
  'wal_level=logical',
  // Citus has a process for each database with it, and moves need more.
  'max_worker_processes=100',
  'max_connections=1000',
];
