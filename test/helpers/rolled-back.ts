import type { Pool, Queryable } from '../../src/db/postgres/pool.ts';
import { checkInvariants, type Finding } from '../../src/ledger/verify.ts';

/** Runs the statements and returns what is read then, in a transaction that is rolled back. */
async function rolledBack<Result>(
  pool: Pool,
  statements: string[],
  read: (tx: Queryable) => Promise<Result>,
) {
  const client = await pool.connect();
  try {
    for (const text of ['BEGIN', ...statements]) await client.query({ text });
    return await read(client);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

/** Runs the statements, of which nothing stays. */
export const attempt = (pool: Pool, ...statements: string[]) => rolledBack(pool, statements, async () => {});

/** What verification finds after the statements, of which nothing stays. */
export const findingsAfter = (pool: Pool, statements: string[], now?: Date): Promise<Finding[]> =>
  rolledBack(pool, statements, async tx => (await checkInvariants(tx, now ? { now } : {})).findings);
