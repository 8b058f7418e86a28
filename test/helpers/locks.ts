import { onTestFinished } from 'vitest';
import { openPool, type Pool } from '../../src/db/postgres/pool.ts';

/**
 * A session of another program, with an open transaction that locks what the statement says until COMMIT.
 * It may be idle for as long as it likes, unlike one of the service.
 */
export async function holdLocks(url: string, text: string, values: unknown[]) {
  const pool = openPool({ connectionString: url }, 1);
  const session = await pool.connect();
  // A test may end it.
  session.on('error', () => {});
  const ended = new Promise<void>(resolve => session.once('end', resolve));
  onTestFinished(async () => {
    session.release(true);
    await pool.end();
  });
  await session.query('SET idle_in_transaction_session_timeout = 0');
  await session.query('BEGIN');
  await session.query(text, values);
  return { session, ended, unlock: async () => void (await session.query('COMMIT')) };
}

/** How many sessions of this database wait for a lock. Other tests use databases of the same server. */
export async function countWaiting(pool: Pick<Pool, 'query'>): Promise<number> {
  const { rowCount } = await pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rowCount!;
}

/** The promise, and whether it has ended. */
export function follow<Result>(result: Promise<Result>) {
  const followed = { result, hasEnded: false };
  const note = () => {
    followed.hasEnded = true;
  };
  result.then(note, note);
  return followed;
}
