import { afterAll, expect, test } from 'vitest';
import { openPool } from '../../src/db/pool.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { createDatabase } from '../helpers/database.ts';
import { describeFailure } from './report.ts';
import { runSeed } from './run.ts';
import { tuneForSpeed } from './server.ts';

const { pool: setUpPool, url } = await createDatabase();
await tuneForSpeed(setUpPool);
const pool = openPool({ connectionString: url }, 1);
afterAll(() => pool.end());

const seeds = 30;

test('whatever goes wrong, no rule about money or events is broken', async () => {
  for (let seed = 1; seed <= seeds; seed++) {
    const result = await runSeed(pool, seed);
    if (result.violation) throw new Error(describeFailure(result));
  }
  expect((await verifyLedger(pool)).findings).toEqual([]);
}, 180_000);

test.each([1, 7, 30])('seed %i gives the same run every time', async seed => {
  const [first, second] = [await runSeed(pool, seed), await runSeed(pool, seed)];
  expect(second.trace).toEqual(first.trace);
  expect(second.digest).toBe(first.digest);
});
