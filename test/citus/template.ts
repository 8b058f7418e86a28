import { systemClock } from '../../src/base/clock.ts';
import { migrate } from '../../src/db/migrate.ts';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { createShard } from '../helpers/create-shard.ts';
import { createCitusDatabase, databaseAt, runOn } from './citus.ts';

/*
 * One cluster serves a whole run. To make a cluster of a database with its shards takes many times as long as to copy the database
 * on every node: the catalogs of Citus are in it, and the nodes are the same.
 */

const template = 'kopeck_template';

/** Makes the database that `copyTemplate` copies, with its shards. `nodes` are addresses, that of the coordinator first. */
export async function createTemplate(
  nodes: string[],
  shards: number,
  fill: (pool: Pool) => Promise<unknown>,
): Promise<void> {
  const [coordinator = '', ...workers] = nodes;
  const pool = openPool({ connectionString: await createCitusDatabase(coordinator, workers, template) }, 1);
  await migrate(pool);
  // A copy of a database that was started is not open.
  await pool.query('DELETE FROM incarnations');
  for (let shard = 1; shard < shards; shard++) await createShard(pool, systemClock);
  await fill(pool);
  await pool.end();
  // A database in use cannot be copied.
  await closeCopy(nodes, template);
}

/** Returns the address at the coordinator. */
export async function copyTemplate(nodes: string[], name: string): Promise<string> {
  await Promise.all(nodes.map(url => runOn(url, `CREATE DATABASE ${name} TEMPLATE ${template}`)));
  return databaseAt(nodes[0]!, name);
}

/**
 * Ends what works in a copy. It is removed with its server: DROP DATABASE would make the server write everything to disk, and all
 * other tests would wait for that.
 */
export const closeCopy = (nodes: string[], name: string) => Promise.all(nodes.map(url => close(url, name)));

/** Citus has a process of its own in every database, which comes back as long as it can connect. */
async function close(url: string, name: string): Promise<void> {
  await runOn(url, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  await runOn(url, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`);
}
