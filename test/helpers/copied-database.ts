import { openPool, type Pool } from '../../src/db/postgres/pool.ts';
import { afterFile } from './after-file.ts';
import { administer, copyTemplate } from './database.ts';

/**
 * A copy of a test database as it is now: what a backup, or a standby that lags, would have. The original goes on; its
 * sessions are cut for the moment of the copy and open again by themselves.
 */
export async function copyDatabase(original: Pool): Promise<Pool> {
  const name = original.options.database!;
  await administer(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
  await administer(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`);
  const copy = await copyTemplate(name);
  await administer(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`);
  const pool = openPool({ ...original.options, database: copy });
  afterFile(() => pool.end());
  return pool;
}
