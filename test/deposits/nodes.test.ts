import { expect, test } from 'vitest';
import { reportLate } from '../../src/deposits/watch/late.ts';
import { type Transfer, usdtContract } from '../helpers/chain.ts';
import { startDepositWorld } from './world.ts';

const usdt = 1_000_000n;

/** A world in which a deposit is final and not booked yet. */
async function withDeposit(
  options: Parameters<typeof startDepositWorld>[0],
  transfer: Partial<Transfer> = {},
) {
  const world = await startDepositWorld(options);
  const { partnerId, account } = await world.newPartner();
  world.chain.mine([{ to: account, units: 5n * usdt, ...transfer }]);
  world.chain.mineMany(world.chain.notFinal + 1);
  return { ...world, balance: () => world.balanceOf(partnerId), account };
}

test('two nodes that agree', async () => {
  const world = await withDeposit({ twoNodes: true });
  await world.round();
  expect(await world.balance()).toBe(5n * usdt);
  expect(world.nodes[1]!.calls).toContain('eth_getLogs');
});

test.each([
  ['hides a deposit', 'eth_getLogs', { result: [] }],
  ['has another final block', 'eth_getBlockByNumber', undefined],
] as const)('of two nodes one %s: nothing is booked until they agree', async (_what, method, answer) => {
  const world = await withDeposit({ twoNodes: true });
  const second = world.nodes[1]!;
  second.interfere = (asked, params) => {
    if (asked !== method) return undefined;
    const last = world.chain.blocks.at(-3)!;
    const isLast = Number(params[0]) === last.number;
    const other = { number: `0x${last.number.toString(16)}`, hash: `0x${'e'.repeat(64)}`, timestamp: '0x1' };
    return answer ?? (isLast ? { result: other } : undefined);
  };
  await world.round();
  expect(await world.balance()).toBe(0n);
  expect(await world.alarmKinds()).toEqual(['deposit_nodes_disagree']);
  second.interfere = undefined;
  await world.round();
  expect(await world.balance()).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
});

test('a log of a block that is not in the chain is not credited', async () => {
  const world = await withDeposit({});
  const real = world.chain.blocks.at(-4)!;
  world.node.interfere = (method, params) =>
    method === 'eth_getBlockByNumber' && Number(params[0]) === real.number
      ? { result: { number: params[0], hash: `0x${'d'.repeat(64)}`, timestamp: '0x1' } }
      : undefined;
  await world.round();
  expect(await world.balance()).toBe(0n);
  expect(await world.alarmKinds()).toEqual(['deposit_nodes_disagree']);
});

test('a log that its block does not have is not credited', async () => {
  const world = await withDeposit({});
  world.node.interfere = (method, params) =>
    method === 'eth_getLogs' && (params[0] as { blockHash?: string }).blockHash ? { result: [] } : undefined;
  await world.round();
  expect(await world.balance()).toBe(0n);
  expect(await world.alarmKinds()).toEqual(['deposit_nodes_disagree']);
});

test('a log above the range that was asked for is not credited before it is final', async () => {
  const world = await startDepositWorld();
  const { partnerId, account } = await world.newPartner();
  world.chain.mineMany(3);
  world.chain.mine([{ to: account, units: 5n * usdt }]);
  world.node.ignoresRange = true;
  await world.round();
  expect(await world.balanceOf(partnerId)).toBe(0n);
  expect(await world.states()).toEqual(['pending 5000000']);
  await world.settle();
  expect(await world.balanceOf(partnerId)).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
});

test('a later block than the one asked for does not move the cursor past a deposit', async () => {
  const world = await withDeposit({});
  const cursor = async () => (await world.pool.query('SELECT cursor_block FROM deposit_chains')).rows[0];
  const before = await cursor();
  const final = world.chain.blocks.at(-1 - world.chain.notFinal)!;
  const { number, hash } = world.chain.blocks.at(-1)!;
  world.node.interfere = (method, params) =>
    method === 'eth_getBlockByNumber' && Number(params[0]) === final.number
      ? { result: { number: `0x${number.toString(16)}`, hash, timestamp: '0x1' } }
      : undefined;
  await world.round();
  expect(await cursor()).toEqual(before);
  expect(await world.alarmKinds()).toEqual(['deposit_node_failing']);
});

test('a node that calls every block final is not asked for what is above', async () => {
  const world = await withDeposit({});
  world.chain.notFinal = 0;
  await world.round();
  expect(await world.balance()).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
});

test('a range that the node refuses is halved, and never asked for again', async () => {
  const world = await startDepositWorld();
  const { partnerId, account } = await world.newPartner();
  world.chain.mineMany(300);
  world.chain.mine([{ to: account, units: 5n * usdt }]);
  world.chain.mineMany(300);
  const refused: string[] = [];
  world.node.interfere = (method, params) => {
    if (method !== 'eth_getLogs') return undefined;
    const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
    const isTooLong = Number(toBlock) - Number(fromBlock) >= 100;
    if (isTooLong) refused.push(`${fromBlock} ${toBlock}`);
    return isTooLong
      ? { error: { code: -32_005, message: 'query returned more than 10000 results' } }
      : undefined;
  };
  await world.round();
  expect(await world.balanceOf(partnerId)).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
  expect(refused.length).toBeGreaterThan(1);
  expect(new Set(refused).size).toBe(refused.length);
});

test('an answer that is too large is asked for in parts', async () => {
  const world = await startDepositWorld();
  const { partnerId, account } = await world.newPartner();
  const others = Array.from({ length: 500 }, () => ({ to: usdtContract, units: 1n }));
  for (let block = 0; block < 40; block++) world.chain.mine(others);
  world.chain.mine([{ to: account, units: 5n * usdt }]);
  world.chain.mineMany(world.chain.notFinal);
  world.node.ignoresFilter = true;
  // As if larger ranges had been refused: this one has all the blocks.
  world.size.blocks = 64n;
  await world.round();
  expect(await world.balanceOf(partnerId)).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
  expect(world.node.calls.filter(method => method === 'eth_getLogs').length).toBeGreaterThan(3);
});

test.each([
  ['throttled', () => ({ status: 429 })],
  ['broken', () => ({ status: 502 })],
])('a node that is %s raises an alarm without its address, and is asked again', async (_what, interfere) => {
  const world = await withDeposit({});
  world.node.interfere = interfere;
  await world.round();
  expect(await world.alarmKinds()).toEqual(['deposit_node_failing']);
  expect((await world.alarmDetails()).join()).not.toMatch(/key-of-the-node|127\.0\.0\.1/);
  expect(await world.balance()).toBe(0n);
  world.node.interfere = undefined;
  await world.round();
  expect(await world.balance()).toBe(5n * usdt);
});

test('a node that goes back to an older head changes nothing', async () => {
  const world = await withDeposit({});
  await world.round();
  const newest = world.chain.blocks.splice(-4);
  await world.round();
  expect(await world.balance()).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
  world.chain.blocks.push(...newest);
  await world.settle();
  expect(await world.balance()).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
});

test('a transfer that a machine behind the address leaves out is credited with the next blocks', async () => {
  const world = await withDeposit(
    {
      name: 'bnb',
      node: { chainId: 56, decimals: 18 },
      env: { DEPOSIT_BNB_CONTRACT: '0xdAC17F958D2ee523a2206206994597C13D831ec7' },
    },
    { units: 5n * usdt * 10n ** 12n },
  );
  world.node.interfere = method => (method === 'eth_getLogs' ? { result: [] } : undefined);
  await world.round();
  expect(await world.balance()).toBe(0n);
  world.node.interfere = undefined;
  await world.settle();
  expect(await world.balance()).toBe(5n * usdt);
  await world.settle();
  expect(await world.balance()).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
});

test('a final block that is replaced stops the chain with an alarm', async () => {
  const world = await withDeposit({});
  await world.round();
  world.chain.reorganise(4);
  world.chain.mine([{ to: world.account, units: 5n * usdt }]);
  await world.settle();
  expect(await world.balance()).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual(['deposit_nodes_disagree']);
});

test('a chain does not begin with a block that only one node has', async () => {
  const world = await startDepositWorld({ twoNodes: true });
  await world.pool.query('DELETE FROM deposit_chains');
  const { number } = world.chain.blocks.at(-1 - world.chain.notFinal)!;
  const invented = { number: `0x${number.toString(16)}`, hash: `0x${'e'.repeat(64)}`, timestamp: '0x1' };
  world.node.interfere = (_method, params) => (params[0] === 'finalized' ? { result: invented } : undefined);
  await world.round();
  expect(await world.alarmKinds()).toEqual(['deposit_nodes_disagree']);
  expect((await world.pool.query('SELECT FROM deposit_chains')).rowCount).toBe(0);
  world.node.interfere = undefined;
  await world.round();
  expect(await world.alarmKinds()).toEqual([]);
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

test('a TRON node without the tag finalized: an alarm, and nothing is booked', async () => {
  const world = await startDepositWorld({
    name: 'tron',
    node: { chainId: 728_126_428, knowsFinalized: false },
  });
  expect(await world.alarmKinds()).toEqual(['deposit_node_failing']);
});

test('TRON with a number of confirmations', async () => {
  const world = await startDepositWorld({
    name: 'tron',
    node: { chainId: 728_126_428, knowsFinalized: false },
    env: { DEPOSIT_TRON_CONFIRMATIONS: '2' },
  });
  const { partnerId, account } = await world.newPartner();
  expect(world.depositChain.deriveAddress(partnerId).address).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/);
  // TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t, as the logs have it.
  const contract = '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c';
  world.chain.mine([{ to: account, units: 6n * usdt, contract }]);
  world.chain.mine();
  await world.round();
  expect(await world.balanceOf(partnerId)).toBe(0n);
  world.chain.mine();
  await world.round();
  expect(await world.balanceOf(partnerId)).toBe(6n * usdt);
});
