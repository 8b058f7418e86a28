import { openPool, type Pool } from '../../src/db/postgres/pool.ts';
import { migrate } from '../../src/db/schema/migrate.ts';
import { distributeArchive } from '../../src/payments/archive/distribute/distribute.ts';
import { afterFile } from '../helpers/after-file.ts';
import { auditContextOf } from '../helpers/database.ts';
import { newFolder } from '../helpers/folders.ts';
import { createPast } from '../payments/archive-world.ts';
import { citusArchive } from './archive.ts';
import { addCitus, type Citus, createPlainDatabase, launchCitus } from './citus.ts';

export const isCitusAvailable = citusArchive !== undefined;

if (!isCitusAvailable)
  console.warn(
    '\n!!! There is no Citus for this machine: its tests are SKIPPED. Set CITUS_ARCHIVE (docs/internals/testing.md).\n',
  );

/** Every table has so many parts, on two workers; 32, as usual, would take three times as long. */
const settings = ['citus.shard_count=4'];

/** Citus until the end of the test file. */
export const startCitus = (): Promise<Citus> =>
  launchCitus(newFolder(), { workers: 2, settings, atEnd: afterFile });

/** A database on the coordinator, with an archive that is not distributed yet. */
export async function createHistory(citus: Citus, name: string) {
  const url = await createPlainDatabase(citus.coordinator.url, name);
  // Statements over several servers take long on a busy machine.
  const connect = (connectionString = url): Pool => {
    const pool = openPool({ connectionString, statement_timeout: 0, query_timeout: 0 });
    pool.on('error', () => {});
    afterFile(() => pool.end());
    return pool;
  };
  const pool = connect();
  await migrate(pool);
  await pool.query('DELETE FROM incarnations');
  const past = await createPast(pool);
  await addCitus(
    url,
    citus.workers.map(worker => worker.url),
  );
  const distribute = (options?: Parameters<typeof distributeArchive>[1]) =>
    distributeArchive(auditContextOf(pool, past.clock), options);
  return { ...past, citus, url, pool, connect, distribute };
}
