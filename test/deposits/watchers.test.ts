import { test as base, expect } from 'vitest';
import { reconcileDeposits, startDepositWatchers } from '../../src/deposits/index.ts';
import { reportLate } from '../../src/deposits/watch/watcher.ts';
import { usdtContract } from '../helpers/chain.ts';
import {
  bnb,
  credited,
  instead,
  startDepositWorld,
  startWithDeposits,
  startWithFinal,
  usdt,
} from './world.ts';

/** Of the first blocks; the chain begins at 13:33:20. */
const day = new Date('2025-11-16T00:00:00Z');

/** Two deposits that are credited, and one that is too small. */
async function startBookedWorld(options: Parameters<typeof startDepositWorld>[0] = {}) {
  const world = await startWithDeposits([3n * usdt, 1n], options);
  const other = await world.newPartner();
  world.chain.mine([{ to: other.account, units: 4n * usdt }]);
  await world.settle();
  const { pool: db, clock, alarms } = world;
  const compare = (of = day) => reconcileDeposits({ db, clock, alarms }, world.depositChain, of);
  return { ...world, compare };
}
const test = base.extend('world', () => startWithFinal([]));

test('a day without discrepancies, and days without blocks', async () => {
  const { compare, alarmKinds } = await startBookedWorld();
  const found = await compare();
  expect(found).toMatchObject({ onChain: 3, onRecord: 3, differences: [], isComplete: false });
  expect(found.firstBlock).toBe(0n);
  for (const empty of ['2025-11-15', '2025-11-17'])
    expect(await compare(new Date(empty))).toMatchObject({ onChain: 0, onRecord: 0, differences: [] });
  expect(await alarmKinds()).toEqual([]);
});

test('every kind of discrepancy is found and raises an alarm, until there is none', async () => {
  const { pool, compare, alarmKinds } = await startBookedWorld();
  const kinds = async () => (await compare()).differences.map(({ kind }) => kind);
  const change = async (sql: string) => void (await pool.query(sql));
  await change(`UPDATE deposits SET units = units + 1 WHERE micro_usdt = ${3n * usdt}`);
  expect(await kinds()).toEqual(['differs']);
  expect(await alarmKinds()).toEqual(['deposit_discrepancy']);
  await change(`UPDATE deposits SET units = units - 1 WHERE micro_usdt = ${3n * usdt}`);
  expect(await kinds()).toEqual([]);
  expect(await alarmKinds()).toEqual([]);
  await change(`UPDATE deposits SET ordinal = 7 WHERE micro_usdt = ${4n * usdt}`);
  expect((await kinds()).sort()).toEqual(['not_on_chain', 'not_on_record']);
  await change('UPDATE deposits SET ordinal = 0 WHERE ordinal = 7');
  await change(`UPDATE deposits SET credit_reference = 'another' WHERE micro_usdt = ${4n * usdt}`);
  expect(await kinds()).toEqual(['not_in_ledger']);
});

test('nodes that disagree: nothing is compared', async () => {
  const { nodes, compare } = await startBookedWorld({ twoNodes: true });
  nodes[1]!.interfere = instead('eth_getLogs', { result: [] });
  await expect(compare()).rejects.toThrow(
    /^Ethereum: the nodes have different transfers in the blocks \d+ to \d+\. Nothing was compared\.$/,
  );
});

test('the process that watches a chain compares the day before by itself', async () => {
  const { pool, sql, clock, chains, alarms, alarmKinds } = await startBookedWorld();
  await pool.query(`UPDATE deposits SET units = units + 1 WHERE micro_usdt = ${3n * usdt}`);
  const errors: unknown[] = [];
  const watch = (instance: number) =>
    startDepositWatchers({
      ...{ pool, clock, chains, alarms, depositScreenUrl: undefined, heartbeat: { instance } },
      log: { error: details => void errors.push(details) },
    });
  // The day is over, and its last block is booked.
  clock.advance(86_400_000);
  await sql`UPDATE deposit_chains SET cursor_time = '2025-11-17T00:00:12Z', lease_holder = 1,
                                      lease_until = '2025-11-17T13:41:00Z'`;
  const stopOther = watch(2);
  const stop = watch(1);
  await clock.until(async () => expect(await alarmKinds()).toContain('deposit_discrepancy'));
  await clock.during(Promise.all([stop(), stopOther()]));
  expect(errors).toEqual([]);
});

test('a chain that stands still is late', async () => {
  const world = await startDepositWorld();
  const { pool, clock, alarms, depositChain: chain } = world;
  clock.advance(3_600_000);
  // No round has ended since: the node may hang.
  await reportLate({ pool, clock, alarms, chain }, clock.nowMs());
  expect(await world.alarmKinds()).toEqual(['deposit_chain_late']);
  world.chain.startSec += 3_600;
  world.chain.mineMany(5);
  await world.round();
  await reportLate({ pool, clock, alarms, chain }, clock.nowMs());
  expect(await world.alarmKinds()).toEqual([]);
});

test('a silent node of one chain delays no other chain', async () => {
  const world = await startWithFinal([5n * usdt]);
  const silent = await startDepositWorld(bnb);
  silent.node.interfere = () => 'never answers';
  const stop = startDepositWatchers({
    ...world,
    chains: new Map([...silent.chains, ...world.chains]),
    depositScreenUrl: undefined,
    heartbeat: { instance: 1 },
    log: { error: () => {} },
  });
  const asked = silent.node.calls.length;
  await world.clock.until(async () =>
    expect(await world.record()).toMatchObject({ balances: [5n * usdt], alarms: [] }),
  );
  await world.clock.until(() => expect(silent.node.calls.length).toBeGreaterThan(asked));
  const stopped = stop();
  // The stop waits for the end of the call.
  await silent.clock.advance(10_000);
  await world.clock.during(stopped);
});

const tooMany = { error: { code: -32_005, message: 'query returned more than 10000 results' } };
// biome-ignore lint/suspicious/noExplicitAny: a filter of logs
const isTooLong = ([{ fromBlock, toBlock, blockHash }]: any[], limit: number) =>
  !blockHash && Number(toBlock) - Number(fromBlock) >= limit;

test('a range that the node refuses is halved, and never asked for again', async ({ world }) => {
  world.chain.mineMany(300);
  world.pay(5n * usdt);
  world.chain.mineMany(300);
  const refused: string[] = [];
  world.node.interfere = instead('eth_getLogs', tooMany, params => {
    if (!isTooLong(params, 100)) return false;
    refused.push(`${params[0].fromBlock} ${params[0].toBlock}`);
    return true;
  });
  await world.round();
  expect(await world.record()).toEqual(credited(5n));
  expect(refused.length).toBeGreaterThan(1);
  expect(new Set(refused).size).toBe(refused.length);
});

test('a chain that makes no block final: what is pending is read in parts too', async ({ world }) => {
  world.chain.notFinal = 100;
  for (const units of [5n, 6n]) {
    world.pay(units * usdt);
    world.chain.mineMany(40);
  }
  world.node.interfere = instead('eth_getLogs', tooMany, params => isTooLong(params, 10));
  await world.round();
  await world.round();
  expect(await world.record()).toMatchObject({ states: ['pending 5000000', 'pending 6000000'], alarms: [] });
  await world.settle();
  for (let round = 0; round < 2; round++) await world.round();
  expect(await world.balance()).toBe(11n * usdt);
});

test('an answer that is too large is asked for in parts', async ({ world }) => {
  const others = Array.from({ length: 500 }, () => ({ to: usdtContract, units: 1n }));
  for (let block = 0; block < 40; block++) world.chain.mine(others);
  world.pay(5n * usdt);
  world.chain.mineMany(world.chain.notFinal);
  world.node.ignoresFilter = true;
  // As if larger ranges had been refused: this one has all the blocks.
  world.size.blocks = 64n;
  await world.round();
  expect(await world.record()).toEqual(credited(5n));
  expect(world.node.calls.filter(method => method === 'eth_getLogs').length).toBeGreaterThan(3);
});
