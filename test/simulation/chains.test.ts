import { afterAll, expect, inject, test } from 'vitest';
import { verifyLedger } from '../../src/ledger/index.ts';
import { endOfTime } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { chainFaults } from './chain-faults.ts';
import { describeFailure } from './report.ts';
import { runSeed } from './run.ts';
import { openRunDatabase } from './run-database.ts';

const { url } = await createDatabase();
const name = new URL(url).pathname.slice(1);
const database = await openRunDatabase({
  connection: inject('connection'),
  name,
  drops: false,
});
afterAll(database.end);

/**
 * Short ones. `npm run sabotage` needs some of them: 76, 86, 96, 131 and 161 have late transfers, 96 and 116 credits beside a
 * locked account, and in 476 final blocks are replaced while they are read.
 */
const seeds = [1, 16, 36, 46, 76, 86, 91, 96, 116, 131, 161, 296, 301, 476];

const happened = new Set<string>();

test('whatever chains and their nodes do, no rule about deposits is broken', async () => {
  for (const seed of seeds) {
    const result = await runSeed(database, seed, { keepsHistory: true });
    if (result.violation) throw new Error(describeFailure(result));
    for (const fault of Object.keys(result.chainFaults)) happened.add(fault);
  }
  expect((await verifyLedger(database.pool, { now: endOfTime })).findings).toEqual([]);
}, 180_000);

test('each fault of chains and their nodes happens in these seeds', () => {
  expect([...happened].sort()).toEqual([...chainFaults].sort());
});

test('seed 36 gives the same run every time', async () => {
  const [first, second] = [await runSeed(database, 36), await runSeed(database, 36)];
  expect(second.trace).toEqual(first.trace);
});
