import { afterAll, expect, test } from 'vitest';
import { openPool } from '../../src/db/pool.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { endOfTime } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { describeFailure } from './report.ts';
import { runSeed } from './run.ts';
import { tuneForSpeed } from './server.ts';

const { pool: setUpPool, url } = await createDatabase();
await tuneForSpeed(setUpPool);
const pool = openPool({ connectionString: url }, 1);
afterAll(() => pool.end());

/** `npm run sabotage` needs some of these: 30 has an event during a suspension, 32 an attempt that is recorded late. */
const seeds = [...Array.from({ length: 30 }, (_, index) => index + 1), 32];

test('whatever goes wrong, no rule about money or events is broken', async () => {
  for (const seed of seeds) {
    const result = await runSeed(pool, seed);
    if (result.violation) throw new Error(describeFailure(result));
  }
  expect((await verifyLedger(pool, { now: endOfTime })).findings).toEqual([]);
}, 180_000);

test.each([1, 7, 30])('seed %i gives the same run every time', async seed => {
  const [first, second] = [await runSeed(pool, seed), await runSeed(pool, seed)];
  expect(second.trace).toEqual(first.trace);
  expect(second.digest).toBe(first.digest);
});
