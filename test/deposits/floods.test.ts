import { expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { readSettings } from '../../src/base/settings.ts';
import { transaction } from '../../src/db/pool.ts';
import { openDepositChains, rewindChain } from '../../src/deposits/index.ts';
import { runRound } from '../../src/deposits/watch/round.ts';
import { credit } from '../../src/ledger/index.ts';
import { type Transfer, usdtContract } from '../helpers/chain.ts';
import { auditContextOf } from '../helpers/database.ts';
import { holdLocks } from '../helpers/locks.ts';
import { startDepositWorld, xpub } from './world.ts';

const usdt = 1_000_000n;
const many = (count: number, transfer: Transfer) => Array.from({ length: count }, () => transfer);

/** What a node says of more logs than this in one answer. */
const limited =
  (maxLogs: number, answer: { status: number } | { error: { code: number; message: string } }) =>
  (world: Awaited<ReturnType<typeof startDepositWorld>>) => {
    const { node } = world;
    const asked: number[] = [];
    node.interfere = (method, params) => {
      if (method !== 'eth_getLogs') return undefined;
      const [filter] = params as [
        { topics: (string[] | string | null)[]; fromBlock: string; toBlock: string; blockHash?: string },
      ];
      const accounts = filter.topics[2] as string[];
      asked.push(accounts.length);
      const isAsked = ({ number, hash }: { number: number; hash: string }) =>
        filter.blockHash
          ? hash === filter.blockHash
          : number >= Number(filter.fromBlock) && number <= Number(filter.toBlock);
      const wanted = world.chain.blocks
        .filter(isAsked)
        .flatMap(({ transactions }) => transactions.flatMap(({ transfers }) => transfers))
        .filter(({ to }) => accounts.some(topic => topic.endsWith(to.slice(2))));
      const isFull = wanted.length > maxLogs;
      return isFull ? answer : undefined;
    };
    return asked;
  };

test('a transaction with any number of other logs is no obstacle: no receipt is read', async () => {
  const world = await startDepositWorld();
  const { partnerId, account } = await world.newPartner();
  const foreign = `0x${'f'.repeat(40)}`;
  world.chain.mine([
    { to: account, units: 5n * usdt },
    ...many(40_000, { to: account, units: 1n, contract: foreign }),
  ]);
  await world.settle();
  expect(await world.balanceOf(partnerId)).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
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
  expect(await world.balanceOf(other.partnerId)).toBe(5n * usdt);
  expect(await world.balanceOf(victim.partnerId)).toBe(6n * usdt);
  expect(await world.alarmKinds()).toEqual(['deposit_unread']);
  const [detail] = await world.alarmDetails();
  expect(detail).toContain(`in block ${filled} to ${world.depositChain.formatAccount(victim.account)}`);
  expect(detail).toContain(victim.partnerId);
});

test('a block is read in parts where a node gives no more results at once', async () => {
  const world = await startDepositWorld();
  const partners = await Promise.all(Array.from({ length: 6 }, world.newPartner));
  world.chain.mine(partners.flatMap(({ account }) => many(4, { to: account, units: usdt })));
  const asked = limited(5, { error: { code: -32_005, message: 'more than 5 results' } })(world);
  await world.settle();
  for (const { partnerId } of partners) expect(await world.balanceOf(partnerId)).toBe(4n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
  expect(asked).toContain(1);
});

test.each([
  ['refuses everything', { error: { code: -32_005, message: 'limit exceeded' } }],
  ['throttles everything', { status: 429 }],
])('a node that %s leaves nothing unread', async (_what, answer) => {
  const world = await startDepositWorld();
  const { partnerId, account } = await world.newPartner();
  world.chain.mine([{ to: account, units: 5n * usdt }]);
  world.node.interfere = method => (method === 'eth_getLogs' ? answer : undefined);
  await world.settle();
  expect(await world.alarmKinds()).toEqual(['deposit_node_failing']);
  world.node.interfere = undefined;
  await world.round();
  expect(await world.balanceOf(partnerId)).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
});

test('a node that often fails to give one block leaves nothing unread as long as it gives it now and then', async () => {
  const world = await startDepositWorld();
  const { partnerId, account } = await world.newPartner();
  world.chain.mine([{ to: account, units: 5n * usdt }]);
  let refused = 0;
  world.node.interfere = (method, params) => {
    const [filter] = params as [{ topics?: string[][]; blockHash?: string }];
    const isOurs = method === 'eth_getLogs' && filter.topics![2]![0]!.endsWith(account.slice(2));
    if (!isOurs || filter.blockHash || refused++ >= 5) return undefined;
    return { error: { code: -32_005, message: 'limit exceeded' } };
  };
  await world.settle();
  expect(await world.balanceOf(partnerId)).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
});

test('dust is stored in few statements, whatever it is worth, and delays no other partner', async () => {
  const world = await startDepositWorld();
  const [victim, other] = [await world.newPartner(), await world.newPartner()];
  world.chain.mine(many(4_000, { to: victim.account, units: 1n }), [{ to: other.account, units: 5n * usdt }]);
  world.chain.mineMany(world.chain.notFinal);
  let statements = 0;
  const { pool, clock, alarms, depositChain: chain, size } = world;
  const count = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get: (of, name) => {
        const value = Reflect.get(of, name);
        if (name === 'query') statements += 1;
        if (name === 'connect') return async () => count(await (value as () => Promise<object>).call(of));
        return typeof value === 'function' ? value.bind(of) : value;
      },
    });
  await runRound({ pool: count(pool), clock, alarms, chain, isScreened: false }, size);
  expect(await world.balanceOf(other.partnerId)).toBe(5n * usdt);
  expect((await world.states()).filter(state => state === 'accumulating 1')).toHaveLength(4_000);
  expect(statements).toBeLessThan(50);
  // Enough of it is credited, in slices.
  world.chain.mine([{ to: victim.account, units: 2n * usdt }]);
  await world.settle();
  expect(await world.balanceOf(victim.partnerId)).toBe(2n * usdt + 4_000n);
  const { rows } = await pool.query(
    `SELECT DISTINCT credit_reference FROM deposits WHERE state = 'credited'`,
  );
  // Those of the other partner and of the deposit, and one for each slice.
  expect(rows).toHaveLength(2 + 8);
});

test('what is worth less than a millionth is dropped', async () => {
  const world = await startDepositWorld({
    name: 'bnb',
    node: { chainId: 56, decimals: 18 },
    env: { DEPOSIT_BNB_CONTRACT: '0xdAC17F958D2ee523a2206206994597C13D831ec7' },
  });
  const { account } = await world.newPartner();
  world.chain.mine(many(10, { to: account, units: 10n ** 12n - 1n }), [{ to: account, units: 10n ** 12n }]);
  await world.settle();
  expect(await world.states()).toEqual(['accumulating 1']);
});

test('an account that is locked delays the credits of no other partner', async () => {
  const world = await startDepositWorld();
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
  expect(await world.balanceOf(other!.partnerId)).toBe(5n * usdt + 1n);
  expect(await world.alarmKinds()).toEqual(['deposit_watch_failing']);
  expect(await world.alarmDetails()).toEqual([
    expect.stringMatching(/^Ethereum: deposits of 1 partners could not/),
  ]);
  // Blocks are booked on meanwhile.
  world.chain.mine([{ to: other!.account, units: 6n * usdt }]);
  await world.settle();
  expect(await world.balanceOf(other!.partnerId)).toBe(11n * usdt + 1n);
  await unlock();
  await world.round();
  expect(await world.balanceOf(locked!.partnerId)).toBe(5n * usdt + 1n);
  expect(await world.alarmKinds()).toEqual([]);
});

test('a smallest amount that is lowered credits what has accumulated', async () => {
  const env = { DEPOSIT_ETHEREUM_MIN_USDT: '10' };
  const world = await startDepositWorld({ env });
  const { partnerId, account } = await world.newPartner();
  world.chain.mine([{ to: account, units: 4n * usdt }]);
  await world.settle();
  expect(await world.states()).toEqual(['accumulating 4000000']);
  const settings = readSettings({
    DEPOSIT_CHAINS: 'ethereum',
    DEPOSIT_ETHEREUM_RPC: world.node.url,
    DEPOSIT_ETHEREUM_XPUB: xpub,
    DEPOSIT_ETHEREUM_MIN_USDT: '4',
  });
  const chain = (await openDepositChains(settings.depositChains, world.clock)).get('ethereum')!;
  const { pool, clock, alarms, size } = world;
  await runRound({ pool, clock, alarms, chain, isScreened: false }, size);
  expect(await world.balanceOf(partnerId)).toBe(4n * usdt);
});

test('a node that allows a few requests at a time makes progress in every round', async () => {
  const world = await startDepositWorld();
  const { partnerId, account } = await world.newPartner();
  // More questions than are allowed: one for the range, and two for each block with a deposit.
  for (let block = 0; block < 8; block++) world.chain.mine([{ to: account, units: usdt }]);
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
  const { pool, alarms, depositChain: chain, size } = world;
  for (let round = 0; round < 12; round++) {
    left = 14;
    await runRound({ pool, clock, alarms, chain, isScreened: false }, size);
  }
  expect(await world.balanceOf(partnerId)).toBe(8n * usdt);
});

test('blocks filled for several partners stop nobody else, whatever a node calls it', async () => {
  const world = await startDepositWorld();
  const victims = await Promise.all(Array.from({ length: 4 }, world.newPartner));
  const other = await world.newPartner();
  world.chain.mine(
    victims.flatMap(({ account }) => many(6, { to: account, units: usdt })),
    [{ to: other.account, units: 5n * usdt }],
  );
  limited(5, { error: { code: -32_602, message: 'response is too big' } })(world);
  await world.settle();
  expect(await world.balanceOf(other.partnerId)).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual(Array(4).fill('deposit_unread'));
});

test('what was reported as unread is held when it is read later: it may have been credited by hand', async () => {
  const world = await startDepositWorld();
  const { partnerId, account } = await world.newPartner();
  const before = BigInt(world.chain.blocks.length - 1);
  world.chain.mine(many(6, { to: account, units: usdt }));
  limited(5, { error: { code: -32_005, message: 'more than 5 results' } })(world);
  await world.settle();
  expect(await world.alarmKinds()).toEqual(['deposit_unread']);
  world.node.interfere = undefined;
  const audit = auditContextOf(world.pool, world.clock);
  await rewindChain(audit, world.depositChain, { block: before, reason: 'another node' });
  await world.settle();
  expect(await world.states()).toEqual(Array(6).fill('held 1000000'));
  expect(await world.balanceOf(partnerId)).toBe(0n);
});

test('what only one of two nodes can give is held, and what neither has is not reported', async () => {
  const world = await startDepositWorld({ twoNodes: true });
  const [hidden, other] = [await world.newPartner(), await world.newPartner()];
  world.chain.mine([{ to: other.account, units: 2n * usdt }]);
  world.chain.mine([{ to: hidden.account, units: 5n * usdt }]);
  const topic = hidden.account.slice(2);
  world.nodes[1]!.interfere = (method, params) => {
    if (method !== 'eth_getLogs') return undefined;
    const [{ topics }] = params as [{ topics: string[][] }];
    const isRefused = topics[2]!.some(one => one.endsWith(topic));
    return isRefused ? { error: { code: -32_005, message: 'limit exceeded' } } : undefined;
  };
  await world.settle();
  expect(await world.states()).toEqual(['credited 2000000', 'held 5000000']);
  expect(await world.alarmKinds()).toEqual(['deposit_held']);
  expect(await world.balanceOf(hidden.partnerId)).toBe(0n);
});

test('a deposit that an operator has locked stops no other', async () => {
  const world = await startDepositWorld({
    name: 'bnb',
    node: { chainId: 56, decimals: 18 },
    env: { DEPOSIT_BNB_CONTRACT: '0xdAC17F958D2ee523a2206206994597C13D831ec7' },
  });
  const [one, other] = [await world.newPartner(), await world.newPartner()];
  const amount = 5n * usdt * 10n ** 12n;
  world.chain.mine([{ to: one.account, units: amount }]);
  await world.settle();
  const { unlock } = await holdLocks(world.url, 'SELECT FROM deposits FOR UPDATE', []);
  // The last blocks are read again with the next ones.
  world.chain.mine([{ to: other.account, units: amount }]);
  await world.settle();
  expect(await world.balanceOf(other.partnerId)).toBe(5n * usdt);
  expect(await world.alarmKinds()).toEqual([]);
  await unlock();
});
