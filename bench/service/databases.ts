import { openEmbedded } from '../../src/db/embedded/index.ts';
import { openPool, type Pool } from '../../src/db/postgres/index.ts';
import { closeOnce } from './cleanup.ts';

/** Filling and vacuuming take longer than the service's timeouts allow. */
const ofBench = {
  application_name: 'kopeck bench',
  statement_timeout: 0,
  query_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
};

/** Direct access for the bench to the PostgreSQL of a service, while it runs. */
export async function connectTo(dataDir: string): Promise<{ pool: Pool; close(): Promise<void> }> {
  const server = await openEmbedded(dataDir, () => {}, 'create');
  const pool = openPool({ ...server.connection, ...ofBench });
  return { pool, close: closeOnce(() => pool.end().then(() => server.close())) };
}
