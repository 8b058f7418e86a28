import { describe, expect, test } from 'vitest';
import { readSweep } from '../../../src/deposits/index.ts';
import { isEvmNodeInstalled } from '../../helpers/evm-node.ts';
import { isByHash, startRealWorld, usdt } from './world.ts';

describe.skipIf(!isEvmNodeInstalled)('with a real node', () => {
  test('many partners in one block, and a payout to several of them in one transaction', async () => {
    const { node, token, ...world } = await startRealWorld();
    const partners = await Promise.all(Array.from({ length: 20 }, world.newPartner));
    const balances = () => Promise.all(partners.map(({ partnerId }) => world.balanceOf(partnerId)));
    for (const { account } of partners) await node.send(token, [{ account, units: 3n * usdt }]);
    const [first, second] = partners;
    const batch = await node.send(token, [
      { account: first!.account, units: 4n * usdt },
      { account: token, units: 90n * usdt },
      { account: second!.account, units: 5n * usdt },
      { account: first!.account, units: 4n * usdt },
    ]);
    await node.mine();
    await world.round();
    expect(await world.states()).toHaveLength(23);
    expect((await balances()).every(balance => balance === 0n)).toBe(true);
    world.proxy.calls = [];
    await world.settle();
    // One question for the block, however many transactions and transfers it has.
    expect(world.proxy.calls.filter(isByHash)).toHaveLength(1);
    await world.settle();
    expect(await balances()).toEqual([11n * usdt, 8n * usdt, ...Array(18).fill(3n * usdt)]);
    expect(await world.alarmKinds()).toEqual([]);
    // The places in the block, not in the transaction: 20 others came before.
    const { rows } = await world.pool.query({
      text: 'SELECT log_index FROM deposits WHERE transaction = $1 ORDER BY log_index',
      values: [batch],
    });
    expect(rows.map(({ log_index }) => log_index)).toEqual([20, 22, 23]);
    const swept = await readSweep(world.pool, world.depositChain);
    expect(swept.map(({ units }) => units).sort()).toEqual((await balances()).sort());
  });

  test('a reorganisation replaces deposits: other amounts, and the same transaction at another place', async () => {
    const { node, token, ...world } = await startRealWorld();
    const [first, second] = [await world.newPartner(), await world.newPartner()];
    const both = [
      { account: first.account, units: 3n * usdt },
      { account: second.account, units: 4n * usdt },
    ];
    const before = await node.snapshot();
    await node.send(token, both);
    await node.send(token, [{ account: first.account, units: 50n * usdt }]);
    await node.mine();
    await world.round();
    expect(await world.states()).toEqual(['pending 3000000', 'pending 4000000', 'pending 50000000']);
    await node.goBack(before);
    await node.send(token, both);
    await node.send(token, [{ account: second.account, units: 9n * usdt }]);
    await node.mine();
    await world.round();
    await world.settle();
    expect(await world.balanceOf(first.partnerId)).toBe(3n * usdt);
    expect(await world.balanceOf(second.partnerId)).toBe(13n * usdt);
    expect((await world.states()).sort()).toEqual([
      'credited 3000000',
      'credited 4000000',
      'credited 9000000',
      'dropped 50000000',
    ]);
  });

  test('what must not be credited: a copy of the token, a failed transaction, nothing, somebody else', async () => {
    const { node, token, ...world } = await startRealWorld();
    const { partnerId, account } = await world.newPartner();
    const copy = await node.deployToken();
    await node.send(copy, [{ account, units: 5n * usdt }]);
    await node.send(token, [{ account, units: 0n }]);
    await node.send(token, [{ account: token, units: 8n * usdt }]);
    // Enough gas for the first of them.
    const many = Array.from({ length: 30 }, () => ({ account, units: 2n * usdt }));
    const failed = await node.send(token, many, '0x11170');
    await world.settle();
    expect((await node.receipt(failed)).status).toBe('0x0');
    expect(await world.states()).toEqual([]);
    expect(await world.balanceOf(partnerId)).toBe(0n);
    expect(await world.alarmKinds()).toEqual([]);
  });

  test('with the tag finalized of the node, and nothing above it', async () => {
    const { node, token, ...world } = await startRealWorld({ env: { DEPOSIT_ETHEREUM_CONFIRMATIONS: '' } });
    const { partnerId, account } = await world.newPartner();
    await node.send(token, [{ account, units: 7n * usdt }]);
    await node.mine();
    await world.round();
    expect(await world.balanceOf(partnerId)).toBe(7n * usdt);
    expect(await world.cursor()).toBe(await node.head());
    expect(await world.alarmKinds()).toEqual([]);
  });
});
