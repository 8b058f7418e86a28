import { test as base, expect } from 'vitest';
import { transaction } from '../../src/db/postgres/pool.ts';
import { readAccounts } from '../../src/deposits/addresses.ts';
import { bookRange } from '../../src/deposits/watch/book.ts';
import { readFinalRange } from '../../src/deposits/watch/read-range.ts';
import { credit } from '../../src/ledger/index.ts';
import { usdtContract } from '../helpers/chain.ts';
import { bnb, credited, startDepositWorld, startWithDeposits, usdt } from './world.ts';

const test = base.extend('world', () => startDepositWorld());

test('a deposit is pending until its block is final, and then credited once', async () => {
  const world = await startWithDeposits([25n * usdt]);
  await world.round();
  expect(await world.record()).toMatchObject({ balances: [0n], states: ['pending 25000000'] });
  await world.settle();
  await world.round();
  await world.settle();
  expect(await world.record()).toEqual(credited(25n));
});

test('the partner is notified once that a deposit was seen, and not of dust', async ({ world }) => {
  const { account } = await world.newPartner();
  const dust = [{ to: account, units: 1n }];
  const { transactions } = world.chain.mine([{ to: account, units: 25n * usdt }], dust);
  await world.round();
  await world.round();
  world.chain.reorganise(1);
  await world.round();
  world.chain.mine().transactions.push(...transactions);
  await world.round();
  const notices = async () =>
    (await world.pool.query('SELECT kind, details FROM partner_notices ORDER BY id')).rows;
  const seen = {
    kind: 'deposit_seen',
    details: { usdt: '25.000000', chain: 'Ethereum (ERC-20)', minutes: 16 },
  };
  expect(await notices()).toEqual([seen]);
  await world.settle();
  expect(await notices()).toMatchObject([seen, { kind: 'balance_credited' }]);
});

test('many partners in one block, and several deposits in one transaction', async ({ world }) => {
  const partners = await Promise.all(Array.from({ length: 5 }, world.newPartner));
  world.chain.mine(
    partners.map(({ account }) => ({ to: account, units: 3n * usdt })),
    [4n, 5n].map(units => ({ to: partners[0]!.account, units: units * usdt })),
  );
  await world.settle();
  const { balances } = await world.record();
  expect(balances).toEqual([12n, 3n, 3n, 3n, 3n].map(balance => balance * usdt));
  const { rows } = await world.pool.query(
    `SELECT d.micro_usdt, e.micro_usdt AS credited
       FROM deposits d LEFT JOIN entries e ON e.partner_id = d.partner_id AND e.reference = d.reference`,
  );
  expect(rows).toHaveLength(7);
  expect(rows.filter(row => row.credited !== row.micro_usdt)).toEqual([]);
});

test('a reorganisation before finality drops a deposit, or moves it', async () => {
  const world = await startWithDeposits([7n * usdt]);
  const { transactions } = world.chain.blocks.at(-1)!;
  await world.round();
  world.chain.reorganise(1);
  await world.round();
  expect(await world.states()).toEqual(['dropped 7000000']);
  world.chain.mine().transactions.push(...transactions);
  await world.round();
  expect(await world.states()).toEqual(['pending 7000000']);
  await world.settle();
  expect(await world.record()).toEqual(credited(7n));
});

test('a reorganisation that moves the logs of a transaction leaves each partner their own', async () => {
  const world = await startDepositWorld();
  const [first, second] = [await world.newPartner(), await world.newPartner()];
  const { transactions } = world.chain.mine([
    { to: first.account, units: 3n * usdt },
    { to: second.account, units: 4n * usdt },
  ]);
  await world.round();
  world.chain.reorganise(1);
  // Another transaction comes before it: what was the place of one partner's log is now that of the other's.
  world.chain.mine([{ to: usdtContract, units: 1n }]).transactions.push(...transactions);
  await world.round();
  await world.settle();
  expect(await world.record()).toMatchObject({ balances: [3n * usdt, 4n * usdt] });
});

test('what never became final is dropped when its block is passed', async () => {
  const world = await startWithDeposits([7n * usdt]);
  await world.round();
  world.chain.reorganise(1);
  await world.settle();
  expect(await world.record()).toEqual({ balances: [0n], states: ['dropped 7000000'], alarms: [] });
});

test('two watchers at once book a range once', async () => {
  const world = await startWithDeposits([9n * usdt]);
  world.chain.mineMany(2);
  const accounts = await readAccounts(world.pool, 'ethereum');
  const cursor = BigInt(world.chain.blocks.length - 1 - 2 - 3);
  const range = await readFinalRange(world.depositChain, new Set(accounts.keys()), {
    fromBlock: cursor + 1n,
    toBlock: BigInt(world.chain.blocks.length - 3),
  });
  const { rows } = await world.pool.query(
    'SELECT cursor_block AS block, cursor_hash AS hash FROM deposit_chains',
  );
  const { pool, clock, depositChain: chain } = world;
  const booking = { pool, clock, chain, accounts, isScreened: false };
  const results = await Promise.all([1, 2, 3].map(() => bookRange(booking, rows[0], range)));
  expect(results.filter(Boolean)).toHaveLength(1);
  await world.round();
  expect(await world.balance()).toBe(9n * usdt);
});

test('a final deposit stays as it is when a node reports its transaction in a later block', async () => {
  const world = await startWithDeposits([9n * usdt]);
  await world.settle();
  const { transactions } = world.chain.blocks[Number(world.before) + 1]!;
  world.chain.mine().transactions.push(...transactions);
  for (const step of [world.round, world.settle]) {
    await step();
    expect(await world.record()).toEqual(credited(9n));
  }
});

test.each([
  ['what cannot be credited is booked', 'partner_notices', "kind <> 'balance_credited'", true],
  [
    'deposits and cursor exist together: what fails in between leaves nothing',
    'deposits',
    'final_at IS NULL',
    false,
  ],
])('%s, and credited in a later round', async (_what, table, constraint, isBooked) => {
  const world = await startWithDeposits([9n * usdt]);
  const before = await world.cursor();
  await world.pool.query(`ALTER TABLE ${table} ADD CONSTRAINT fault CHECK (${constraint}) NOT VALID`);
  await world.settle();
  expect(await world.record()).toEqual({
    balances: [0n],
    states: isBooked ? ['accumulating 9000000'] : [],
    alarms: ['deposit_watch_failing'],
  });
  expect((await world.cursor()) > before).toBe(isBooked);
  await world.pool.query(`ALTER TABLE ${table} DROP CONSTRAINT fault`);
  await world.round();
  expect(await world.record()).toMatchObject({ balances: [9n * usdt], alarms: [] });
});

test('deposits below the smallest are summed, and credited when they reach it', async () => {
  const env = { DEPOSIT_ETHEREUM_MIN_USDT: '10' };
  const world = await startWithDeposits([4n * usdt, 5n * usdt], { env });
  await world.settle();
  expect(await world.record()).toMatchObject({
    balances: [0n],
    states: ['accumulating 4000000', 'accumulating 5000000'],
  });
  world.pay(1n * usdt);
  await world.settle();
  expect(await world.balance()).toBe(10n * usdt);
  const { rows } = await world.pool.query('SELECT DISTINCT state, credit_reference FROM deposits');
  expect(rows).toHaveLength(1);
});

test('18 decimals are rounded down, with the rest on record, and less than a millionth is left out', async () => {
  const world = await startWithDeposits([2_500_000_999_999_999_999n, 10n ** 12n - 1n, 10n ** 12n], bnb);
  await world.settle();
  expect(await world.record()).toEqual({
    balances: [2_500_001n],
    states: ['credited 2500000', 'credited 1'],
    alarms: [],
  });
  const { rows } = await world.pool.query('SELECT rest_units, units FROM deposits WHERE micro_usdt > 1');
  expect(rows).toEqual([{ rest_units: '999999999999', units: '2500000999999999999' }]);
});

test('what must not be credited: another token, a removed log, nothing, somebody else', async ({ world }) => {
  const { account } = await world.newPartner();
  world.chain.mine(
    [{ to: account, units: 5n * usdt, contract: `0x${'f'.repeat(40)}` }],
    [{ to: account, units: 6n * usdt, isRemoved: true }],
    [{ to: account, units: 0n }],
    [{ to: usdtContract, units: 8n * usdt }],
  );
  world.node.ignoresFilter = true;
  await world.settle();
  // None of it stops the chain either.
  expect(await world.record()).toEqual({ balances: [0n], states: [], alarms: [] });
});

test('an absurd amount, or a reference that is in use, is held with an alarm', async () => {
  const world = await startWithDeposits([10n ** 16n]);
  await world.settle();
  const { transactions } = world.pay(2n * usdt);
  const reference = `deposit:ethereum:${transactions[0]!.hash}:0`;
  await transaction(world.pool, tx =>
    credit(tx, world.clock, [{ partnerId: world.partnerId, mode: 'live', reference, microUsdt: 1n }]),
  );
  await world.settle();
  expect(await world.record()).toEqual({
    balances: [1n],
    states: [`held ${10n ** 16n}`, 'held 2000000'],
    alarms: ['deposit_held', 'deposit_held'],
  });
  expect(await world.findings()).toEqual([]);
});
