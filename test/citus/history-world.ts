import { migrate } from '../../src/db/migrate.ts';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { distributeArchive } from '../../src/payments/archive/distribute/distribute.ts';
import { afterFile } from '../helpers/after-file.ts';
import { auditContextOf } from '../helpers/database.ts';
import { createPast } from '../payments/archive-world.ts';
import { type Citus, createCitusDatabase } from './citus.ts';

/** A database on the coordinator, with an archive that is not distributed yet. */
export async function createHistory(citus: Citus, name: string) {
  const workerUrls = citus.workers.map(({ url }) => url);
  const url = await createCitusDatabase(citus.coordinator.url, workerUrls, name);
  const connect = (connectionString = url): Pool => {
    const pool = openPool({ connectionString });
    pool.on('error', () => {});
    afterFile(() => pool.end());
    return pool;
  };
  const pool = connect();
  await migrate(pool);
  await pool.query('DELETE FROM incarnations');
  const past = await createPast(pool);
  const distribute = (options?: Parameters<typeof distributeArchive>[1]) =>
    distributeArchive(auditContextOf(pool, past.clock), options);
  return { ...past, citus, url, pool, connect, distribute };
}
