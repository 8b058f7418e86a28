import { afterAll, expect, inject } from 'vitest';
import { verifyLedger } from '../../src/ledger/index.ts';
import { endOfTime } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { describeFailure } from './report.ts';
import { type RunOptions, type RunResult, runSeed } from './run.ts';
import { openRunDatabase } from './run-database.ts';

/** Runs on a database of the test file. */
export async function startRuns() {
  const name = new URL((await createDatabase()).url).pathname.slice(1);
  const database = await openRunDatabase(inject('connection'), name, { drops: false });
  afterAll(database.end);
  return {
    /** No rule is broken. */
    run: async (seed: number, options?: RunOptions): Promise<RunResult> => {
      const result = await runSeed(database, seed, options);
      if (result.violation) throw new Error(describeFailure(result));
      return result;
    },
    /** From now on PostgreSQL reads whole tables, so it returns rows in another order where a statement does not fix it. */
    planOtherwise: async () => {
      for (const plan of ['nestloop', 'indexscan', 'indexonlyscan', 'bitmapscan', 'mergejoin'])
        await database.pool.query(`SET enable_${plan} = off`);
      // Plans that are there are made anew.
      await database.pool.query('ANALYZE');
    },
    verify: async () => expect((await verifyLedger(database.pool, { now: endOfTime })).findings).toEqual([]),
  };
}
