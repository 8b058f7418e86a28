import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { openPool, type Pool } from '../../src/db/postgres/pool.ts';
import { afterFile } from './after-file.ts';

/**
 * A copy of a test database as it is now: what a backup, or a standby that lags, would have. The original goes on; its
 * sessions are cut for the moment of the copy and open again by themselves.
 */
export async function copyDatabase(original: Pool): Promise<Pool> {
  const { host, port, user } = inject('connection');
  const admin = new pg.Client({ host, port, user, database: 'postgres' });
  await admin.connect();
  const { rows } = await original.query<{ name: string }>('SELECT current_database() AS name');
  const { name } = rows[0]!;
  const copy = `test_${randomBytes(6).toString('hex')}`;
  await admin.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
  await admin.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [
    name,
  ]);
  await admin.query(`CREATE DATABASE ${copy} TEMPLATE ${name} STRATEGY FILE_COPY`);
  await admin.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`);
  await admin.end();
  const pool = openPool({ ...original.options, database: copy });
  afterFile(() => pool.end());
  return pool;
}
