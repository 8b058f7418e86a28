import { afterAll, expect, inject, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openPool } from '../../src/db/pool.ts';
import { verifyLedger } from '../../src/ledger/index.ts';
import { endOfTime } from '../helpers/clock.ts';
import { createShard } from '../helpers/create-shard.ts';
import { createDatabase } from '../helpers/database.ts';
import { describeFailure } from './report.ts';
import { type RunResult, runSeed } from './run.ts';
import { openRunDatabase } from './run-database.ts';

const shards = 4;
const { url } = await createDatabase();
const setUp = openPool({ connectionString: url }, 1);
for (let shard = 1; shard < shards; shard++) await createShard(setUp, systemClock);
await setUp.end();
const name = new URL(url).pathname.slice(1);
const database = await openRunDatabase({ connection: inject('connection'), name, shards, drops: false });
afterAll(database.end);

async function runAll(seeds: number[]): Promise<RunResult[]> {
  const results: RunResult[] = [];
  for (const seed of seeds) {
    const result = await runSeed(database, seed);
    if (result.violation) throw new Error(describeFailure(result));
    results.push(result);
  }
  expect((await verifyLedger(database.pool, { now: endOfTime })).findings).toEqual([]);
  return results;
}

test('on four shards, no rule about money, codes or events is broken', async () => {
  await runAll([8, 10, 20, 25, 34]);
}, 60_000);

test('nor when the database goes back and the bank does not', async () => {
  const results = await runAll([11]);
  expect(results.every(({ losses }) => losses > 0)).toBe(true);
}, 60_000);

test('an opening whose code the sweeper has freed is fenced off', async () => {
  const results = await runAll([45, 52, 57, 73]);
  expect(results.every(({ fenced }) => fenced > 0)).toBe(true);
}, 60_000);

test('seed 10 gives the same run every time', async () => {
  const [first, second] = [await runSeed(database, 10), await runSeed(database, 10)];
  expect(second.trace).toEqual(first.trace);
});
