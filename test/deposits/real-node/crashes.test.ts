import { describe, expect, test } from 'vitest';
import { kopeckProcess } from '../../helpers/cli.ts';
import { isEvmNodeInstalled } from '../../helpers/evm-node.ts';
import { expectEachOnce, isEndOfRange, killWatcher, lockTable, start } from './crash-world.ts';
import { confirmations, serviceEnv, startRealWorld, usdt } from './world.ts';

describe.skipIf(!isEvmNodeInstalled)('kopeck start and a real node', () => {
  test('kill -9 while it credits: both are booked, and the next process credits each deposit once', () =>
    killWatcher('partner_notices', ['accumulating 5000000', 'accumulating 6000000']));

  test('two watchers that have read the same range: one of them books it', async () => {
    const world = await startRealWorld();
    const { partnerId, account } = await world.newPartner();
    const hash = await world.node.send(world.token, [{ account, units: 5n * usdt }]);
    await world.node.mine(confirmations + 1);
    const first = world.proxy.holdNext(isEndOfRange());
    const service = start(world);
    const helds = [await first];
    // The second one is in this process: it has to be there before the first one's time-out.
    const second = world.proxy.holdNext(isEndOfRange());
    const round = world.round();
    helds.push(await second);
    const lock = await lockTable(world, 'deposit_chains');
    for (const held of helds) held.release();
    await expect.poll(lock.waiting).toBe(2);
    await lock.release();
    await Promise.all([round, service]);
    await expect.poll(() => world.balanceOf(partnerId)).toBe(5n * usdt);
    // Both go on: what comes next is credited once too.
    const next = await world.node.send(world.token, [{ account, units: 7n * usdt }]);
    await world.settle();
    await expect.poll(() => world.balanceOf(partnerId)).toBe(12n * usdt);
    const sent = new Map([
      [hash, [5n * usdt]],
      [next, [7n * usdt]],
    ]);
    await expectEachOnce(world, sent);
    expect(await world.alarmKinds()).not.toContain('deposit_watch_failing');
  });

  test('kopeck start refuses a node of another network, and starts without one that is down', async () => {
    const world = await startRealWorld();
    const { partnerId, account } = await world.newPartner();
    await world.node.send(world.token, [{ account, units: 5n * usdt }]);
    await world.node.mine(confirmations + 1);
    const balance = () => world.balanceOf(partnerId);
    const env = serviceEnv(world);
    const refused = await kopeckProcess({ ...env, DEPOSIT_ETHEREUM_CHAIN_ID: '1' }, 'start');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /DEPOSIT_ETHEREUM_RPC cannot be used: the ethereum node 1 is of another network \(31337, not 1\)/,
    );
    expect(refused.stdout + refused.stderr).not.toMatch(/key-of-the-node/);

    world.proxy.interfere = () => 'closes the connection';
    const service = await start(world);
    await expect.poll(world.alarmKinds).toContain('deposit_node_failing');
    expect(await balance()).toBe(0n);
    world.proxy.interfere = undefined;
    await expect.poll(balance).toBe(5n * usdt);
    await expect.poll(world.alarmKinds).not.toContain('deposit_node_failing');
    expect(service.output()).not.toMatch(/key-of-the-node/);
  });
});
