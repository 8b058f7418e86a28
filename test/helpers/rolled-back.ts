import { type Pool, type Queryable, transaction } from '../../src/db/postgres/pool.ts';
import { checkInvariants, type Finding } from '../../src/ledger/verify.ts';

/** Runs the statements and returns what is read then, in a transaction that is rolled back. */
async function rolledBack<Result>(
  pool: Pool,
  statements: string[],
  read: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  const undo = new Error('undo');
  let result: Result | undefined;
  await transaction(pool, async tx => {
    for (const text of statements) await tx.query({ text });
    result = await read(tx);
    throw undo;
  }).catch(error => {
    if (error !== undo) throw error;
  });
  return result as Result;
}

/** Runs the statements, of which nothing stays. */
export const attempt = (pool: Pool, ...statements: string[]) => rolledBack(pool, statements, async () => {});

/** What verification finds after the statements, of which nothing stays. */
export const findingsAfter = (pool: Pool, statements: string[], now?: Date): Promise<Finding[]> =>
  rolledBack(pool, statements, async tx => (await checkInvariants(tx, now ? { now } : {})).findings);
