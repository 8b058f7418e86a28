import { describe, expect, onTestFinished, test } from 'vitest';
import { startDepositWatchers } from '../../../src/deposits/index.ts';
import { kopeckProcess, startService } from '../../helpers/cli.ts';
import { isEvmNodeInstalled } from '../../helpers/evm-node.ts';
import type { Call, Fault, NodeProxy } from './node-proxy.ts';
import { failOnce, isByHash, serviceEnv, startRealWorld, usdt, withDeposit } from './world.ts';

describe.skipIf(!isEvmNodeInstalled)('a real node behind one that fails', () => {
  test.each<[string, Fault, RegExp]>([
    ['is down', 'closes the connection', /cannot be reached/],
    ['throttles', { status: 429 }, /HTTP status 429/],
    ['is broken', { status: 502 }, /HTTP status 502/],
  ])('a node that %s: an alarm without its address, and the deposit follows later', (_what, fault, said) =>
    failOnce(fault, said),
  );

  test('a fault in the middle of a range books nothing of it', async () => {
    const world = await withDeposit();
    const before = await world.cursor();
    const faults: [when: (call: Call) => boolean, after: number][] = [
      [({ method }) => method === 'eth_getLogs', 0],
      [isByHash, 0],
      // The first blocks are those of the final block and of the cursor.
      [({ method }) => method === 'eth_getBlockByNumber', 4],
    ];
    for (const [isMeant, after] of faults) {
      let asked = 0;
      world.proxy.interfere = call => (isMeant(call) && ++asked > after ? { status: 503 } : undefined);
      await world.round();
      expect(asked).toBeGreaterThan(0);
      expect(await world.alarmKinds()).toEqual(['deposit_node_failing']);
      expect([await world.cursor(), await world.balance()]).toEqual([before, 0n]);
    }
    world.proxy.interfere = undefined;
    await world.round();
    expect(await world.balance()).toBe(5n * usdt);
  });

  test('a node that refuses large ranges is asked for smaller ones, and never the same again', async () => {
    const world = await startRealWorld();
    const { partnerId, account } = await world.newPartner();
    await world.node.mine(90);
    await world.node.send(world.token, [{ account, units: 5n * usdt }]);
    await world.node.mine(90);
    const limit = 10n;
    const asked: string[] = [];
    world.proxy.interfere = ({ method, params: [query] }) => {
      if (method !== 'eth_getLogs' || query.blockHash) return undefined;
      asked.push(`${query.fromBlock} ${query.toBlock}`);
      const isTooLong = BigInt(query.toBlock) - BigInt(query.fromBlock) >= limit;
      return isTooLong ? { error: { code: -32_005, message: 'block range too large' } } : undefined;
    };
    for (let round = 0; round < 3; round++) await world.round();
    expect(await world.balanceOf(partnerId)).toBe(5n * usdt);
    expect(await world.alarmKinds()).toEqual([]);
    expect(new Set(asked.slice(0, 20)).size).toBe(20);
  });

  test('a chain that makes no block final: what is pending is read in parts too', async () => {
    const world = await startRealWorld({ env: { DEPOSIT_ETHEREUM_CONFIRMATIONS: '100' } });
    await world.node.mine(100);
    await world.round();
    const { partnerId, account } = await world.newPartner();
    for (const units of [5n, 6n]) {
      await world.node.send(world.token, [{ account, units: units * usdt }]);
      await world.node.mine(40);
    }
    world.proxy.interfere = ({ method, params: [query] }) =>
      method === 'eth_getLogs' && !query.blockHash && BigInt(query.toBlock) - BigInt(query.fromBlock) >= 10n
        ? { error: { code: -32_005, message: 'block range too large' } }
        : undefined;
    await world.round();
    await world.round();
    expect(await world.states()).toEqual(['pending 5000000', 'pending 6000000']);
    expect(await world.alarmKinds()).toEqual([]);
    await world.node.mine(100);
    for (let round = 0; round < 3; round++) await world.round();
    expect(await world.balanceOf(partnerId)).toBe(11n * usdt);
  });

  test('a node that gives the head instead of the end of a range moves no cursor', async () => {
    const world = await withDeposit();
    const before = await world.cursor();
    world.proxy.interfere = ({ method, params }, forward) => {
      const isRange = world.proxy.calls.some(call => call.method === 'eth_getLogs');
      return isRange && method === 'eth_getBlockByNumber' && params[0] !== 'latest'
        ? forward({ params: ['latest', false] })
        : undefined;
    };
    world.proxy.calls = [];
    await world.round();
    expect(await world.alarmKinds()).toEqual(['deposit_node_failing']);
    expect([await world.cursor(), await world.balance()]).toEqual([before, 0n]);
    world.proxy.interfere = undefined;
    await world.round();
    expect(await world.balance()).toBe(5n * usdt);
  });

  /** What a node changes in each log that it gives. */
  const lies: [string, (log: Record<string, string>) => object][] = [
    ['of another block', log => ({ ...log, blockHash: `0x${'d'.repeat(64)}` })],
    ['of another transaction', log => ({ ...log, transactionHash: `0x${'d'.repeat(64)}` })],
    ['at another place', log => ({ ...log, logIndex: '0x7' })],
    ['with another amount', log => ({ ...log, data: `0x${'0'.repeat(56)}3b9aca00` })],
  ];
  test.each(lies)('one node whose index of logs has a log %s is refused', async (_what, change) => {
    const world = await withDeposit();
    world.proxy.interfere = async (call, forward) => {
      if (call.method !== 'eth_getLogs' || isByHash(call)) return undefined;
      const { result } = (await forward()) as { result: Record<string, string>[] };
      return { result: [...result, ...result.map(change)] };
    };
    const before = await world.cursor();
    await world.round();
    expect(await world.alarmKinds()).toHaveLength(1);
    expect([await world.cursor(), await world.balance()]).toEqual([before, 0n]);
  });

  /** What one of two nodes does to the answer of eth_getLogs. */
  const between: [string, (logs: Record<string, string>[]) => object[]][] = [
    ['hides a log', () => []],
    ['repeats a log', logs => [...logs, ...logs]],
    ['says another amount', logs => logs.map(log => ({ ...log, data: `0x${'0'.repeat(56)}3b9aca00` }))],
  ];
  test.each(between)('of two nodes one %s: nothing is booked until they agree', async (_what, change) => {
    for (const liar of [0, 1]) {
      const world = await withDeposit({ twoNodes: true });
      world.proxies[liar]!.interfere = async ({ method }, forward) =>
        method === 'eth_getLogs'
          ? { result: change(((await forward()) as { result: Record<string, string>[] }).result) }
          : undefined;
      await world.round();
      expect(await world.balance()).toBe(0n);
      expect(await world.alarmKinds()).toEqual(['deposit_nodes_disagree']);
      world.proxies[liar]!.interfere = undefined;
      await world.round();
      expect(await world.balance()).toBe(5n * usdt);
      expect(await world.alarmKinds()).toEqual([]);
    }
  });

  test('a node that goes back to an older head, and one of two that is behind', async () => {
    const world = await withDeposit({ twoNodes: true });
    await world.round();
    const behind = 4n;
    const old: NodeProxy['interfere'] = async ({ method, params }, forward) => {
      if (method !== 'eth_getBlockByNumber') return undefined;
      const head = (await world.node.head()) - behind;
      if (params[0] === 'latest') return forward({ params: [`0x${head.toString(16)}`, false] });
      return BigInt(params[0]) > head ? { result: null } : undefined;
    };
    const cursor = await world.cursor();
    for (const nodes of [world.proxies, world.proxies.slice(1)]) {
      for (const proxy of world.proxies) proxy.interfere = nodes.includes(proxy) ? old : undefined;
      await world.round();
      expect([await world.cursor(), await world.balance()]).toEqual([cursor, 5n * usdt]);
      expect(await world.alarmKinds()).toEqual([]);
    }
    for (const proxy of world.proxies) proxy.interfere = undefined;
    await world.settle();
    expect(await world.cursor()).toBeGreaterThan(cursor);
    expect(await world.balance()).toBe(5n * usdt);
  });

  test('a node of another network while the service runs: nothing is booked', async () => {
    const world = await withDeposit();
    world.proxy.interfere = ({ method }) => (method === 'eth_chainId' ? { result: '0x5' } : undefined);
    await world.round();
    expect(await world.alarmKinds()).toEqual(['deposit_nodes_disagree']);
    expect(await world.balance()).toBe(0n);
  });

  test('a silent node of one chain delays no other chain', async () => {
    const world = await withDeposit();
    const silent = await startRealWorld({ name: 'bnb', decimals: 18 });
    const silence = Promise.withResolvers<Fault>();
    silent.proxy.interfere = () => silence.promise;
    const stop = startDepositWatchers({
      ...world,
      chains: new Map([...silent.chains, ...world.chains]),
      depositScreenUrl: undefined,
      heartbeat: { instance: 1 },
      log: { error: () => {} },
    });
    await expect.poll(world.balance).toBe(5n * usdt);
    expect(silent.proxy.calls.length).toBeGreaterThan(0);
    const stopped = stop();
    // Otherwise the stop waits for the end of the call.
    silence.resolve('closes the connection');
    await stopped;
  });

  test('kopeck start refuses a node of another network, and starts without one that is down', async () => {
    const world = await withDeposit();
    const env = serviceEnv(world);
    const refused = await kopeckProcess({ ...env, DEPOSIT_ETHEREUM_CHAIN_ID: '1' }, 'start');
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /DEPOSIT_ETHEREUM_RPC cannot be used: the ethereum node 1 is of another network \(31337, not 1\)/,
    );
    expect(refused.stdout + refused.stderr).not.toMatch(/key-of-the-node/);

    world.proxy.interfere = () => 'closes the connection';
    const service = await startService(env);
    onTestFinished(async () => void (await service.stop('SIGKILL')));
    await expect.poll(world.alarmKinds).toContain('deposit_node_failing');
    expect(await world.balance()).toBe(0n);
    world.proxy.interfere = undefined;
    await expect.poll(world.balance, { timeout: 30_000 }).toBe(5n * usdt);
    await expect.poll(world.alarmKinds).not.toContain('deposit_node_failing');
    expect(service.output()).not.toMatch(/key-of-the-node/);
  });
});
