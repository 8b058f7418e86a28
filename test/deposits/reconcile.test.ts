import { expect, test } from 'vitest';
import { reconcileDeposits, startDepositWatchers } from '../../src/deposits/index.ts';
import { startDepositWorld } from './world.ts';

const usdt = 1_000_000n;
/** Of the first blocks; the chain begins at 13:33:20. */
const day = new Date('2025-11-16T00:00:00Z');

/** Two deposits that are credited, and one that is too small. */
async function startBookedWorld() {
  const world = await startDepositWorld();
  const { account } = await world.newPartner();
  const other = await world.newPartner();
  world.chain.mine([
    { to: account, units: 3n * usdt },
    { to: other.account, units: 4n * usdt },
  ]);
  world.chain.mine([{ to: account, units: 1n }]);
  await world.settle();
  const { pool: db, clock, alarms } = world;
  const compare = (of = day) => reconcileDeposits({ db, clock, alarms }, world.depositChain, of);
  return { ...world, compare };
}

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
  const world = await startDepositWorld({ twoNodes: true });
  const { account } = await world.newPartner();
  world.chain.mine([{ to: account, units: 3n * usdt }]);
  await world.settle();
  world.nodes[1]!.interfere = method => (method === 'eth_getLogs' ? { result: [] } : undefined);
  const { pool: db, clock, alarms } = world;
  await expect(reconcileDeposits({ db, clock, alarms }, world.depositChain, day)).rejects.toThrow(
    /^Ethereum: the nodes have different transfers in the blocks \d+ to \d+\. Nothing was compared\.$/,
  );
});

test('the process that watches a chain compares the day before by itself', async () => {
  const { pool, clock, chains, alarms, alarmKinds } = await startBookedWorld();
  await pool.query(`UPDATE deposits SET units = units + 1 WHERE micro_usdt = ${3n * usdt}`);
  const errors: unknown[] = [];
  const watch = (instance: number) =>
    startDepositWatchers({
      ...{ pool, clock, chains, alarms, depositScreenUrl: undefined, heartbeat: { instance } },
      log: { error: details => void errors.push(details) },
    });
  // The day is over, and its last block is booked.
  clock.advance(86_400_000);
  await pool.query(
    `UPDATE deposit_chains SET cursor_time = '2025-11-17T00:00:12Z', lease_holder = 1, lease_until = '2025-11-17T13:41:00Z'`,
  );
  const stopOther = watch(2);
  const stop = watch(1);
  await expect.poll(alarmKinds).toContain('deposit_discrepancy');
  await Promise.all([stop(), stopOther()]);
  expect(errors).toEqual([]);
});
