import { test as base, expect } from 'vitest';
import { bnb, credited, instead, insteadOfBlock, startDepositWorld, startWithFinal, usdt } from './world.ts';

type World = Awaited<ReturnType<typeof startWithFinal>>;
type Interfere = World['node']['interfere'];
type Log = Record<string, string>;

const booked = credited(5n);
const nothingBooked = { balances: [0n], states: [] };
/** By the next round. */
async function expectBooked({ round, record }: Pick<World, 'round' | 'record'>): Promise<void> {
  await round();
  expect(await record()).toEqual(booked);
}

const anotherAmount = (log: Log) => ({ ...log, data: `0x${'0'.repeat(56)}3b9aca00` });

/** A node that changes the logs that it gives, of a range or of a block. */
const withLogs =
  (change: (logs: Log[]) => object[], ofBlocks = true): Interfere =>
  (method, params, own) =>
    method === 'eth_getLogs' && (ofBlocks || !(params[0] as Log).blockHash)
      ? { result: change(own() as Log[]) }
      : undefined;

const finalTime = ({ chain }: World) => `0x${(chain.startSec + chain.blocks.at(-3)!.number).toString(16)}`;
const anotherFinal = ({ chain }: World, block: { hash?: string; timestamp?: string }) =>
  insteadOfBlock(chain.blocks.at(-3)!.number, block);
const test = base.extend('world', () => startWithFinal([5n * usdt]));

test.each<[string, (world: World) => Interfere]>([
  ['hides a deposit', () => withLogs(() => [])],
  ['repeats a log', () => withLogs(logs => [...logs, ...logs])],
  ['says another amount', () => withLogs(logs => logs.map(anotherAmount))],
  ['has another final block', world => anotherFinal(world, { timestamp: finalTime(world) })],
  [
    'has the final block at another time',
    world => anotherFinal(world, { hash: world.chain.blocks.at(-3)!.hash }),
  ],
])('of two nodes one %s: nothing is booked until they agree', async (_what, lie) => {
  for (const liar of [0, 1]) {
    const world = await startWithFinal([5n * usdt], { twoNodes: true });
    world.nodes[liar]!.interfere = lie(world);
    await world.round();
    expect(await world.record()).toEqual({ ...nothingBooked, alarms: ['deposit_nodes_disagree'] });
    world.nodes[liar]!.interfere = undefined;
    await expectBooked(world);
  }
});

const others: [string, (log: Log) => object][] = [
  ['of another block', log => ({ ...log, blockHash: `0x${'d'.repeat(64)}` })],
  ['of another transaction', log => ({ ...log, transactionHash: `0x${'d'.repeat(64)}` })],
  ['at another place', log => ({ ...log, logIndex: '0x7' })],
  ['with another amount', anotherAmount],
];
test.for<[string, (world: World) => Interfere]>([
  [
    'a log of a block that is not in the chain',
    // The node gives its logs whatever hash it is asked with.
    ({ before }) =>
      (method, params, own) => {
        const at = Number(before) + 1;
        const filter = params[0] as Log;
        return method === 'eth_getLogs' && filter.blockHash
          ? { result: own([{ ...filter, blockHash: undefined, fromBlock: at, toBlock: at }]) }
          : insteadOfBlock(at, { hash: `0x${'d'.repeat(64)}` })(method, params, own);
      },
  ],
  [
    'a log that its block does not have',
    () => instead('eth_getLogs', { result: [] }, ([{ blockHash }]) => blockHash !== undefined),
  ],
  ...others.map(([what, change]): [string, () => Interfere] => [
    `beside the deposit one ${what}`,
    () => withLogs(logs => [...logs, ...logs.map(change)], false),
  ]),
])('%s is not credited', async ([_what, lie], { world }) => {
  const before = await world.cursor();
  world.node.interfere = lie(world);
  await world.round();
  expect(await world.record()).toMatchObject({ balances: [0n], alarms: ['deposit_nodes_disagree'] });
  expect(await world.cursor()).toBe(before);
});

test('a log above the range that was asked for is not credited before it is final', async () => {
  const world = await startWithFinal([]);
  world.chain.mineMany(3);
  world.pay(5n * usdt);
  world.node.ignoresRange = true;
  await world.round();
  expect(await world.record()).toMatchObject({ balances: [0n], states: ['pending 5000000'] });
  await world.settle();
  expect(await world.record()).toEqual(booked);
});

test('a later block than the one asked for does not move the cursor past a deposit', async ({ world }) => {
  const before = await world.cursor();
  const final = world.chain.blocks.at(-1 - world.chain.notFinal)!;
  const { number, hash } = world.chain.blocks.at(-1)!;
  world.node.interfere = insteadOfBlock(final.number, { number: `0x${number.toString(16)}`, hash });
  await world.round();
  expect(await world.cursor()).toEqual(before);
  expect(await world.alarmKinds()).toEqual(['deposit_node_failing']);
});

test('a fault in the middle of a range books nothing of it', async ({ world }) => {
  const before = await world.cursor();
  const faults: [method: string, isMeant: (params: Log[]) => boolean, after: number][] = [
    ['eth_getLogs', () => true, 0],
    ['eth_getLogs', ([filter]) => filter!.blockHash !== undefined, 0],
    // The first blocks are those of the final block and of the cursor.
    ['eth_getBlockByNumber', () => true, 4],
  ];
  for (const [method, isMeant, after] of faults) {
    let asked = 0;
    world.node.interfere = instead(method, { status: 503 }, params => isMeant(params) && ++asked > after);
    await world.round();
    expect(asked).toBeGreaterThan(after);
    expect(await world.record()).toMatchObject({ balances: [0n], alarms: ['deposit_node_failing'] });
    expect(await world.cursor()).toBe(before);
  }
  world.node.interfere = undefined;
  await expectBooked(world);
});

test('a node that calls every block final is not asked for what is above', async ({ world }) => {
  world.chain.notFinal = 0;
  await expectBooked(world);
});

test.each<[string, ReturnType<NonNullable<Interfere>>, RegExp]>([
  ['throttled', { status: 429 }, /HTTP status 429/],
  ['broken', { status: 502 }, /HTTP status 502/],
  ['down', 'closes the connection', /cannot be reached/],
  ['silent', 'never answers', /did not answer in time/],
])('a node that is %s raises an alarm without its address, and is asked again', async (_, fault, said) => {
  const world = await startWithFinal([5n * usdt]);
  const asked = world.node.calls.length;
  world.node.interfere = () => fault;
  const round = world.round();
  if (fault === 'never answers') {
    await world.clock.until(() => expect(world.node.calls.length).toBeGreaterThan(asked));
    await world.clock.advance(10_000);
  }
  await round;
  expect(await world.record()).toEqual({ ...nothingBooked, alarms: ['deposit_node_failing'] });
  const [detail] = await world.alarmDetails();
  expect(detail).toMatch(said);
  expect(detail).not.toMatch(/key-of-the-node|127\.0\.0\.1/);
  world.node.interfere = undefined;
  await expectBooked(world);
});

test('a node of another network while the service runs: nothing is booked', async ({ world }) => {
  world.node.interfere = instead('eth_chainId', { result: '0x5' });
  await world.round();
  expect(await world.record()).toEqual({ ...nothingBooked, alarms: ['deposit_nodes_disagree'] });
});

test('nodes that go back to an older head, or one of two that is behind, change nothing', async () => {
  const world = await startWithFinal([5n * usdt], { twoNodes: true });
  await world.round();
  const newest = world.chain.blocks.splice(-4);
  await expectBooked(world);
  world.chain.blocks.push(...newest);
  const head = world.chain.blocks.length - 5;
  world.nodes[1]!.interfere = (method, [tag], own) => {
    if (method !== 'eth_getBlockByNumber') return undefined;
    if (tag === 'latest') return { result: own([head]) };
    if (tag === 'finalized') return { result: own([head - world.chain.notFinal]) };
    return Number(tag) > head ? { result: null } : undefined;
  };
  await expectBooked(world);
  world.nodes[1]!.interfere = undefined;
  await world.settle();
  expect(await world.record()).toEqual(booked);
});

test('a transfer that a machine behind the address leaves out is credited with the next blocks', async () => {
  const world = await startWithFinal([5n * usdt * 10n ** 12n], bnb);
  world.node.interfere = instead('eth_getLogs', { result: [] });
  await world.round();
  expect(await world.balance()).toBe(0n);
  world.node.interfere = undefined;
  for (let nth = 0; nth < 2; nth++) {
    await world.settle();
    expect(await world.record()).toEqual(booked);
  }
});

test('a final block that is replaced stops the chain with an alarm', async ({ world }) => {
  await world.round();
  world.chain.reorganise(4);
  world.pay(5n * usdt);
  await world.settle();
  expect(await world.record()).toMatchObject({ ...booked, alarms: ['deposit_nodes_disagree'] });
});

test('a final block that is replaced while the blocks after it are read stops the chain with an alarm', async () => {
  const world = await startWithFinal([5n * usdt]);
  await world.round();
  const { notFinal, blocks } = world.chain;
  const length = blocks.length;
  const next = world.pay(7n * usdt).number;
  world.chain.mineMany(notFinal);
  world.node.interfere = (method, [number]) => {
    if (method !== 'eth_getBlockByNumber' || Number(number) !== next) return undefined;
    world.node.interfere = undefined;
    // The block of the cursor and all after it.
    world.chain.reorganise(notFinal + 1 + (blocks.length - length));
    world.chain.mineMany(notFinal + 1);
    world.pay(7n * usdt);
    world.chain.mineMany(notFinal);
    return undefined;
  };
  await world.round();
  expect(await world.record()).toMatchObject({ ...booked, alarms: ['deposit_nodes_disagree'] });
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

test('a TRON node without the tag finalized: an alarm, and with a number of confirmations deposits', async () => {
  const tron = { name: 'tron', node: { chainId: 728_126_428, knowsFinalized: false } } as const;
  const first = await startDepositWorld(tron);
  expect(await first.alarmKinds()).toEqual(['deposit_node_failing']);
  expect((await first.pool.query('SELECT FROM deposit_chains')).rowCount).toBe(0);

  const world = await startDepositWorld({ ...tron, env: { DEPOSIT_TRON_CONFIRMATIONS: '2' } });
  const { partnerId, account, balance } = await world.newPartner();
  expect(world.depositChain.deriveAddress(partnerId).address).toMatch(/^T[1-9A-HJ-NP-Za-km-z]{33}$/);
  // TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t, as the logs have it.
  const contract = '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c';
  world.chain.mine([{ to: account, units: 6n * usdt, contract }]);
  world.chain.mine();
  await world.round();
  expect(await balance()).toBe(0n);
  world.chain.mine();
  await world.round();
  expect(await balance()).toBe(6n * usdt);
});
