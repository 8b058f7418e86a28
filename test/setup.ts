import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { systemClock } from '../src/base/clock.ts';
import { readSettings } from '../src/base/settings.ts';
import { openDatabase } from '../src/db/database.ts';
import { type EmbeddedServer, openEmbedded } from '../src/db/embedded/server.ts';
import { openPool, type Pool } from '../src/db/pool.ts';
import { createPartner } from '../src/partners/index.ts';
import { launchCitus } from './citus/citus.ts';
import { fillFirstShard } from './citus/pool.ts';
import { createTemplate } from './citus/template.ts';
import { createShard } from './helpers/create-shard.ts';
import { isRunning, serverPid } from './helpers/embedded-postgres.ts';
import { auditContextOf } from './helpers/partners.ts';

declare module 'vitest' {
  interface ProvidedContext {
    connection: { host: string; port: number; user: string };
    template: string;
    usedDataDir: string;
    /** Addresses of the nodes, the coordinator first, with KOPECK_TEST_CITUS=1. */
    citus: string[];
  }
}

/**
 * With KOPECK_TEST_SHARDS=4 there are four shards, over which partners are spread; the first shard has one already, so that the only
 * partner of a test is in another. With KOPECK_TEST_SHARD=1 everything happens in the second of two, where no name may lead to the first.
 */
async function addShards(server: EmbeddedServer, several: number): Promise<void> {
  const count = process.env.KOPECK_TEST_SHARD ? 2 : several;
  if (count === 1) return;
  const pool = openPool(server.connection, 1);
  for (let shard = 1; shard < count; shard++) await createShard(pool, systemClock);
  await addFirstPartner(pool);
  await pool.end();
}

/** Hundreds of databases are about to be removed, so the server need not write them down first: it ends at once. */
async function endAtOnce(server: EmbeddedServer, dataDir: string): Promise<void> {
  const pid = serverPid(dataDir);
  const closing = server.close();
  process.kill(pid, 'SIGQUIT');
  await closing;
  while (isRunning(pid)) await systemClock.sleep(20);
}

const addFirstPartner = (pool: Pool) => createPartner(auditContextOf(pool), 'In the first shard');

/** A cluster of a coordinator and two workers, on which every test file copies a database. */
async function startCitus(dir: string, several: number) {
  const cleanUps: (() => Promise<void>)[] = [];
  const { coordinator, workers } = await launchCitus(dir, {
    workers: 2,
    settings: [],
    atEnd: cleanUp => cleanUps.push(cleanUp),
  });
  const nodes = [coordinator, ...workers].map(({ url }) => url);
  await (several > 1
    ? createTemplate(nodes, several, addFirstPartner)
    : createTemplate(nodes, 2, fillFirstShard));
  return { nodes, close: async () => void (await Promise.all(cleanUps.map(cleanUp => cleanUp()))) };
}

/**
 * One real PostgreSQL for the whole run, with a migrated database that every test file copies; and a stopped copy of it
 * for tests that need a DATA_DIR that was used before.
 */
export default async function setup(project: TestProject) {
  const dir = mkdtempSync(join(tmpdir(), 'kopeck-test-'));
  const [running, usedDataDir] = [join(dir, 'running'), join(dir, 'used')];
  const made = await openDatabase(readSettings({ DATA_DIR: running }), () => {}, 'create');
  // Every test copies it, and a copy of a database that was started is not open.
  await made.pool.query('DELETE FROM incarnations');
  await made.close();
  execFileSync('cp', ['-a', running, usedDataDir]);
  const server = await openEmbedded(running, () => {}, 'create');
  const { host, port, user, database } = server.connection as Record<'host' | 'user' | 'database', string> & {
    port: number;
  };
  project.provide('connection', { host, port, user });
  project.provide('template', database);
  project.provide('usedDataDir', usedDataDir);

  const env = { ...process.env, ...project.config.env };
  const several = Number(env.KOPECK_TEST_SHARDS ?? 1);
  await addShards(server, several);
  const citus = env.KOPECK_TEST_CITUS
    ? await startCitus(mkdtempSync(join(dir, 'citus-')), several)
    : undefined;
  project.provide('citus', citus?.nodes ?? []);

  return async () => {
    await citus?.close();
    await endAtOnce(server, running);
    // Hundreds of thousands of files: the run does not wait for their removal, which takes 20 s.
    spawn('rm', ['-rf', dir], { detached: true, stdio: 'ignore' }).unref();
  };
}
