import { expect, test } from 'vitest';
import { rewindChain } from '../../src/deposits/index.ts';
import { bookRange } from '../../src/deposits/watch/book.ts';
import { usdtContract } from '../helpers/chain.ts';
import { auditContextOf } from '../helpers/database.ts';
import { credited, insteadOfBlock, startDepositWorld, startWithDeposits, usdt } from './world.ts';

/** A partner's deposit in a block in which another transaction comes first, and the cursor before that block. */
async function startBookedWorld(options: Parameters<typeof startDepositWorld>[0] = {}) {
  const world = await startWithDeposits([], options);
  world.chain.mine([{ to: usdtContract, units: 1n }], [{ to: world.account, units: 100n * usdt }]);
  await world.settle();
  return { ...world, rewind: (block = world.before) => rewind(world, block) };
}

const rewind = (
  { pool, clock, depositChain }: Awaited<ReturnType<typeof startDepositWorld>>,
  block: bigint,
) => rewindChain(auditContextOf(pool, clock), depositChain, { block, reason: 'test' });

test('a node that counts logs in the block and then in the transaction: credited once', async () => {
  const world = await startBookedWorld();
  expect(await world.balance()).toBe(100n * usdt);
  world.node.countsLogsIn = 'transaction';
  expect(await world.rewind()).toMatchObject({ outcome: 'done', depositsAbove: 1 });
  await world.settle();
  expect(await world.record()).toEqual(credited(100n));
  expect(await world.findings()).toEqual([]);
});

test('two nodes of which one counts in the block and one in the transaction agree', async () => {
  const world = await startDepositWorld({ twoNodes: true });
  world.nodes[1]!.countsLogsIn = 'transaction';
  const [one, other] = [await world.newPartner(), await world.newPartner()];
  const pays = (units: bigint) => [
    { to: one.account, units },
    { to: other.account, units: 2n * units },
    { to: one.account, units: 3n * units },
  ];
  world.chain.mine(pays(usdt), pays(10n * usdt));
  await world.settle();
  expect(await world.record()).toMatchObject({ balances: [44n * usdt, 22n * usdt], alarms: [] });
});

test('a log that is given twice is refused', async () => {
  const world = await startWithDeposits([5n * usdt]);
  const { transactions } = world.chain.blocks.at(-1)!;
  transactions.push({ ...transactions[0]! });
  world.node.countsLogsIn = 'transaction';
  await world.settle();
  expect(await world.record()).toEqual({ balances: [0n], states: [], alarms: ['deposit_nodes_disagree'] });
});

test('another log of a transaction that is booked is held, and an operator decides', async () => {
  const world = await startBookedWorld();
  // A node cannot know of it now if it did not then: it has changed how it reports the transaction.
  const { transfers } = world.chain.blocks[Number(world.before) + 1]!.transactions[1]!;
  transfers.push({ to: world.account, units: 100n * usdt });
  await world.rewind();
  await world.settle();
  expect(await world.record()).toMatchObject({
    balances: [100n * usdt],
    states: ['credited 100000000', 'held 100000000'],
  });
  expect(await world.alarmDetails()).toEqual([
    '100.000000 USDT on Ethereum: other deposits of its transaction were booked before, compare all of them with the chain. Credit or reject it.',
  ]);
  expect(await world.findings()).toEqual([]);
});

test('ledger verify finds a transfer that was credited twice, and a credit without its deposits', async () => {
  const world = await startBookedWorld();
  const { sql } = world;
  await sql`
    INSERT INTO deposits (partner_id, id, chain, transaction, ordinal, log_index, block_number, block_hash, sender, units,
                          rest_units, micro_usdt, state, seen_at, final_at)
     SELECT partner_id, gen_random_uuid(), chain, transaction, 1, 7, block_number, block_hash, sender, units, rest_units,
            micro_usdt, 'accumulating', seen_at, final_at + interval '1 minute' FROM deposits`;
  await world.round();
  expect(await world.balance()).toBe(200n * usdt);
  expect(await world.findings()).toMatchObject([
    { invariant: expect.stringContaining('booked together'), partnerId: world.partnerId },
  ]);
  await sql`UPDATE deposits SET micro_usdt = 1 WHERE ordinal = 1`;
  const [notInLedger, ...others] = await world.findings();
  expect(notInLedger!.invariant).toContain('is in the ledger');
  expect(notInLedger!.detail).toContain('deposits of 1,');
  expect(others).toMatchObject([{ invariant: expect.stringContaining('booked together') }]);
});

test('after a reorganisation below the final block the cursor is put back: what came again is not credited again', async () => {
  const world = await startBookedWorld();
  const again = world.chain.blocks[Number(world.before) + 1]!.transactions;
  world.chain.reorganise(world.chain.blocks.length - 1 - Number(world.before));
  // The same transactions in another block, in another order, and a new one.
  world.chain.mine([{ to: world.account, units: 7n * usdt }]).transactions.push(...again.toReversed());
  world.chain.mineMany(5);
  await world.round();
  expect(await world.alarmKinds()).toEqual(['deposit_nodes_disagree']);
  expect(await world.rewind()).toMatchObject({ outcome: 'done', toBlock: world.before });
  await world.round();
  expect(await world.record()).toMatchObject({ balances: [107n * usdt], alarms: [] });
  expect(await world.findings()).toEqual([]);
  const { rows } = await world.pool.query(
    `SELECT action, subject, after FROM audit WHERE action = 'deposit.rewind'`,
  );
  expect(rows).toMatchObject([{ subject: 'ethereum', after: { block: `${world.before}`, reason: 'test' } }]);
});

test('what is not credited waits after a rewind until it is found again: its transaction may be gone', async () => {
  const world = await startDepositWorld({ isScreened: true });
  const [gone, kept] = [await world.newPartner(), await world.newPartner()];
  const before = BigInt(world.chain.blocks.length - 1);
  world.chain.mine([{ to: gone.account, units: 100n * usdt }]);
  const { transactions } = world.chain.mine([{ to: kept.account, units: 7n * usdt }]);
  await world.settle();
  expect(await world.states()).toEqual(['screening 100000000', 'screening 7000000']);
  world.chain.reorganise(world.chain.blocks.length - 1 - Number(before));
  world.chain.mine().transactions.push(...transactions);
  world.chain.mineMany(5);
  expect(await rewind(world, before)).toMatchObject({ outcome: 'done' });
  await world.screen(async () => 'allow');
  await world.round();
  await world.screen(async () => 'allow');
  expect(await world.record()).toMatchObject({ balances: [0n, 7n * usdt] });
});

test('a range of a fork that is gone is not booked after the cursor has come back to its number', async () => {
  const world = await startBookedWorld();
  const { pool, clock, depositChain: chain } = world;
  const rows = await world.sql`SELECT cursor_block AS block, cursor_hash AS hash FROM deposit_chains`;
  const end = { number: rows[0].block + 1n, hash: `0x${'f'.repeat(64)}`, atMs: clock.nowMs() };
  const range = { end, transfers: [], unconfirmed: [], unread: [] };
  const booking = { pool, clock, chain, accounts: new Map(), isScreened: false };
  const stale = { block: rows[0].block, hash: `0x${'e'.repeat(64)}` };
  expect(await bookRange(booking, stale, range)).toBe(false);
  expect(await bookRange(booking, rows[0], range)).toBe(true);
});

test('a cursor is not put back to a block that is not booked, not final, or not the same on all nodes', async () => {
  const world = await startBookedWorld({ twoNodes: true });
  const last = BigInt(world.chain.blocks.length - 1);
  expect(await world.rewind(last)).toEqual({ outcome: 'not_final' });
  expect(await world.rewind(last - BigInt(world.chain.notFinal))).toEqual({ outcome: 'not_below' });
  world.nodes[1]!.interfere = insteadOfBlock(Number(world.before));
  expect(await world.rewind()).toEqual({ outcome: 'nodes_disagree' });
  world.nodes[1]!.interfere = undefined;
  await world.pool.query('DELETE FROM deposit_chains');
  expect(await world.rewind()).toEqual({ outcome: 'not_watched' });
});
