import { test as base, expect } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { transaction } from '../../src/db/postgres/pool.ts';
import { openDepositChains, rewindChain } from '../../src/deposits/index.ts';
import { credit } from '../../src/ledger/index.ts';
import { type Transfer, usdtContract } from '../helpers/chain.ts';
import { auditContextOf } from '../helpers/database.ts';
import { holdLocks } from '../helpers/locks.ts';
import { bnb, chainSettings, instead, startDepositWorld, startWithDeposits, usdt } from './world.ts';

const many = (count: number, transfer: Transfer) => Array.from({ length: count }, () => transfer);

const tooMany = { error: { code: -32_005, message: 'more than 5 results' } };

/** The node refuses to give more logs than this in one answer. Returns for how many accounts it was asked. */
function limit(
  { node, chain }: Awaited<ReturnType<typeof startDepositWorld>>,
  maxLogs: number,
  answer = tooMany,
) {
  const asked: number[] = [];
  node.interfere = instead('eth_getLogs', answer, ([{ topics, fromBlock, toBlock, blockHash }]) => {
    const accounts = topics[2] as string[];
    asked.push(accounts.length);
    const wanted = chain.blocks
      .filter(({ number, hash }) =>
        blockHash ? hash === blockHash : number >= Number(fromBlock) && number <= Number(toBlock),
      )
      .flatMap(({ transactions }) => transactions.flatMap(({ transfers }) => transfers))
      .filter(({ to }) => accounts.some(topic => topic.endsWith(to.slice(2))));
    return wanted.length > maxLogs;
  });
  return asked;
}
const test = base.extend('world', () => startDepositWorld());

test('a transaction with any number of other logs is no obstacle: no receipt is read', async ({ world }) => {
  const { account } = await world.newPartner();
  const foreign = `0x${'f'.repeat(40)}`;
  world.chain.mine([
    { to: account, units: 5n * usdt },
    ...many(40_000, { to: account, units: 1n, contract: foreign }),
  ]);
  await world.settle();
  expect(await world.record()).toMatchObject({ balances: [5n * usdt], alarms: [] });
  expect(new Set(world.node.calls)).toEqual(
    new Set(['eth_chainId', 'eth_call', 'eth_getBlockByNumber', 'eth_getLogs']),
  );
});

test('a block that is filled for one partner stops nobody else: the alarm says what was not read', async () => {
  const world = await startDepositWorld();
  const [victim, other] = [await world.newPartner(), await world.newPartner()];
  // More than the largest answer that is read.
  world.chain.mine(many(20_000, { to: victim.account, units: 1n }), [
    { to: other.account, units: 5n * usdt },
  ]);
  const filled = world.chain.blocks.length - 1;
  world.chain.mine([{ to: victim.account, units: 6n * usdt }]);
  await world.settle();
  expect(await world.record()).toMatchObject({
    balances: [6n * usdt, 5n * usdt],
    alarms: ['deposit_unread'],
  });
  const [detail] = await world.alarmDetails();
  expect(detail).toContain(`in block ${filled} to ${world.depositChain.formatAccount(victim.account)}`);
  expect(detail).toContain(victim.partnerId);
});

test('a block is read in parts where a node gives no more results at once', async ({ world }) => {
  const partners = await Promise.all(Array.from({ length: 6 }, world.newPartner));
  world.chain.mine(partners.flatMap(({ account }) => many(4, { to: account, units: usdt })));
  const asked = limit(world, 5);
  await world.settle();
  expect(await world.record()).toMatchObject({ balances: Array(6).fill(4n * usdt), alarms: [] });
  expect(asked).toContain(1);
});

test.each([
  ['refuses everything', { error: { code: -32_005, message: 'limit exceeded' } }],
  ['throttles everything', { status: 429 }],
])('a node that %s leaves nothing unread', async (_what, answer) => {
  const world = await startWithDeposits([5n * usdt]);
  world.node.interfere = instead('eth_getLogs', answer);
  await world.settle();
  expect(await world.alarmKinds()).toEqual(['deposit_node_failing']);
  world.node.interfere = undefined;
  await world.round();
  expect(await world.record()).toMatchObject({ balances: [5n * usdt], alarms: [] });
});

test('a node that often fails to give one block leaves nothing unread as long as it gives it now and then', async () => {
  const world = await startWithDeposits([5n * usdt]);
  let refused = 0;
  world.node.interfere = instead('eth_getLogs', tooMany, ([{ topics, blockHash }]) => {
    const isOurs = topics[2][0].endsWith(world.account.slice(2));
    return isOurs && !blockHash && refused++ < 5;
  });
  await world.settle();
  expect(await world.record()).toMatchObject({ balances: [5n * usdt], alarms: [] });
});

test('dust is stored in few statements, whatever it is worth, and delays no other partner', async () => {
  const world = await startDepositWorld();
  const [victim, other] = [await world.newPartner(), await world.newPartner()];
  world.chain.mine(many(4_000, { to: victim.account, units: 1n }), [{ to: other.account, units: 5n * usdt }]);
  world.chain.mineMany(world.chain.notFinal);
  let statements = 0;
  const count = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get: (of, name) => {
        const value = Reflect.get(of, name);
        if (name === 'query') statements += 1;
        if (name === 'connect') return async () => count(await (value as () => Promise<object>).call(of));
        return typeof value === 'function' ? value.bind(of) : value;
      },
    });
  await world.round({ pool: count(world.pool) });
  expect(await other.balance()).toBe(5n * usdt);
  expect((await world.states()).filter(state => state === 'accumulating 1')).toHaveLength(4_000);
  expect(statements).toBeLessThan(50);
  // Enough of it is credited, in slices.
  world.chain.mine([{ to: victim.account, units: 2n * usdt }]);
  await world.settle();
  expect(await victim.balance()).toBe(2n * usdt + 4_000n);
  const { rows } = await world.pool.query(
    `SELECT DISTINCT credit_reference FROM deposits WHERE state = 'credited'`,
  );
  // Those of the other partner and of the deposit, and one for each slice.
  expect(rows).toHaveLength(2 + 8);
});

test('an account that is locked delays the credits of no other partner', async ({ world }) => {
  const partners = await Promise.all([world.newPartner(), world.newPartner()]);
  // The first in the order of crediting.
  const [locked, other] = partners.toSorted((a, b) => (a.partnerId < b.partnerId ? -1 : 1));
  for (const { partnerId } of partners)
    await transaction(world.pool, tx =>
      credit(tx, world.clock, [{ partnerId, mode: 'live', reference: 'first', microUsdt: 1n }]),
    );
  world.chain.mine(partners.map(({ account }) => ({ to: account, units: 5n * usdt })));
  const { unlock } = await holdLocks(world.url, 'SELECT FROM accounts WHERE partner_id = $1 FOR UPDATE', [
    uuidFromId(locked!.partnerId),
  ]);
  await world.settle();
  expect(await other!.balance()).toBe(5n * usdt + 1n);
  expect(await world.alarmKinds()).toEqual(['deposit_watch_failing']);
  expect(await world.alarmDetails()).toEqual([
    expect.stringMatching(/^Ethereum: deposits of 1 partners could not/),
  ]);
  // Blocks are booked on meanwhile.
  world.chain.mine([{ to: other!.account, units: 6n * usdt }]);
  await world.settle();
  expect(await other!.balance()).toBe(11n * usdt + 1n);
  await unlock();
  await world.round();
  expect(await locked!.balance()).toBe(5n * usdt + 1n);
  expect(await world.alarmKinds()).toEqual([]);
});

test('a smallest amount that is lowered credits what has accumulated', async () => {
  const world = await startWithDeposits([4n * usdt], { env: { DEPOSIT_ETHEREUM_MIN_USDT: '10' } });
  await world.settle();
  expect(await world.states()).toEqual(['accumulating 4000000']);
  const lowered = { DEPOSIT_ETHEREUM_RPC: world.node.url, DEPOSIT_ETHEREUM_MIN_USDT: '4' };
  const chains = await openDepositChains(chainSettings(lowered).depositChains, world.clock);
  const chain = chains.get('ethereum')!;
  await world.round({ chain });
  expect(await world.balance()).toBe(4n * usdt);
});

test('a node that allows a few requests at a time makes progress in every round', async () => {
  // More questions than are allowed: one for the range, and two for each block with a deposit.
  const world = await startWithDeposits(Array(8).fill(usdt));
  world.chain.mine([{ to: usdtContract, units: 1n }]);
  world.chain.mineMany(world.chain.notFinal);
  let left = 0;
  world.node.interfere = () => (left-- > 0 ? undefined : { status: 429 });
  // The allowance comes back while the service waits.
  const clock = {
    ...world.clock,
    sleep: async () => {
      left = 14;
    },
  };
  for (let round = 0; round < 12; round++) {
    left = 14;
    await world.round({ clock });
  }
  expect(await world.balance()).toBe(8n * usdt);
});

test('blocks filled for several partners stop nobody else, whatever a node calls it', async ({ world }) => {
  const victims = await Promise.all(Array.from({ length: 4 }, world.newPartner));
  const other = await world.newPartner();
  world.chain.mine(
    victims.flatMap(({ account }) => many(6, { to: account, units: usdt })),
    [{ to: other.account, units: 5n * usdt }],
  );
  limit(world, 5, { error: { code: -32_602, message: 'response is too big' } });
  await world.settle();
  expect(await other.balance()).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual(Array(4).fill('deposit_unread'));
});

test('what was reported as unread is held when it is read later: it may have been credited by hand', async () => {
  const world = await startWithDeposits([]);
  world.chain.mine(many(6, { to: world.account, units: usdt }));
  limit(world, 5);
  await world.settle();
  expect(await world.alarmKinds()).toEqual(['deposit_unread']);
  world.node.interfere = undefined;
  const audit = auditContextOf(world.pool, world.clock);
  await rewindChain(audit, world.depositChain, { block: world.before, reason: 'another node' });
  await world.settle();
  expect(await world.record()).toMatchObject({ balances: [0n], states: Array(6).fill('held 1000000') });
});

test('what only one of two nodes can give is held, and what neither has is not reported', async () => {
  const world = await startDepositWorld({ twoNodes: true });
  const [hidden, other] = [await world.newPartner(), await world.newPartner()];
  world.chain.mine([{ to: other.account, units: 2n * usdt }]);
  world.chain.mine([{ to: hidden.account, units: 5n * usdt }]);
  const topic = hidden.account.slice(2);
  world.nodes[1]!.interfere = instead('eth_getLogs', tooMany, ([{ topics }]) =>
    topics[2].some((one: string) => one.endsWith(topic)),
  );
  await world.settle();
  expect(await world.record()).toEqual({
    balances: [0n, 2n * usdt],
    states: ['credited 2000000', 'held 5000000'],
    alarms: ['deposit_held'],
  });
});

test('a deposit that an operator has locked stops no other', async () => {
  const world = await startWithDeposits([5n * usdt * 10n ** 12n], bnb);
  const other = await world.newPartner();
  await world.settle();
  const { unlock } = await holdLocks(world.url, 'SELECT FROM deposits FOR UPDATE', []);
  // The last blocks are read again with the next ones.
  world.chain.mine([{ to: other.account, units: 5n * usdt * 10n ** 12n }]);
  await world.settle();
  expect(await other.balance()).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
  await unlock();
});
