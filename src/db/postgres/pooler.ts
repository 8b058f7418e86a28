import type pg from 'pg';
import { OperatorError } from '../../base/operator-error.ts';
import type { Pool } from './pool.ts';

const rounds = 3;

/**
 * Refuses a pooler in transaction mode, such as PgBouncer's: it gives each transaction any server session, so advisory
 * locks, LISTEN, time-outs and prepared statements end up in sessions of others.
 *
 * A pooler gives its clients process numbers of its own, so a direct connection is recognised at once. Behind a pooler,
 * two clients that are both connected must keep server sessions of their own. In transaction mode the second gets the one
 * that the first has just used or, if sessions are used in turn, the first gets another one in its next transaction.
 */
export async function refuseTransactionPooling(pool: Pool): Promise<void> {
  const first = await pool.connect();
  try {
    const session = await sessionOf(first);
    if (session === (first as unknown as { processID: number }).processID) return;
    const second = await pool.connect();
    try {
      for (let round = 0; round < rounds; round++)
        if ((await sessionOf(first)) !== session || (await sessionOf(second)) === session)
          throw transactionMode();
    } finally {
      second.release();
    }
  } finally {
    first.release();
  }
}

async function sessionOf(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]!.pid;
}

const transactionMode = () =>
  new OperatorError(
    'DATABASE_URL leads through a connection pooler in transaction mode, in which locks and time-outs are lost: set pool_mode = session there (PgBouncer), or connect to the server itself.',
  );
