import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifyLedger } from '../../../src/ledger/index.ts';
import { type Service, startService } from '../../helpers/cli.ts';
import { isEvmNodeInstalled } from '../../helpers/evm-node.ts';
import { createRandom } from '../../helpers/random.ts';
import type { Call } from './node-proxy.ts';
import { confirmations, isByHash, type RealWorld, serviceEnv, startRealWorld, usdt } from './world.ts';

async function start(world: RealWorld): Promise<Service> {
  const service = await startService(serviceEnv(world));
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return service;
}

/** As if a minute had passed: the lease of a process that does not run any more is over. */
const endLease = (world: RealWorld) => world.pool.query(`UPDATE deposit_chains SET lease_until = 'epoch'`);

/** Nobody else writes to the table until it is released. */
async function lockTable(world: RealWorld, table: string) {
  const client = await world.pool.connect();
  await client.query('BEGIN');
  await client.query(`LOCK TABLE ${table} IN EXCLUSIVE MODE`);
  return {
    waiting: async () => {
      const { rowCount } = await client.query({
        text: `SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted
                  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        values: [table],
      });
      return rowCount!;
    },
    release: async () => {
      await client.query('COMMIT');
      client.release();
    },
  };
}

/** The last question before a range with deposits is booked: its last block, after the logs of its blocks. */
function isEndOfRange(): (call: Call) => boolean {
  let hasLogs = false;
  return ({ method, params }) => {
    hasLogs ||= isByHash({ method, params });
    return hasLogs && method === 'eth_getBlockByNumber' && params[0] !== 'latest';
  };
}

describe.skipIf(!isEvmNodeInstalled)('kopeck start and a real node', () => {
  /** What each transfer pays, by transaction, as the node has it in the end. */
  async function expectEachOnce(world: RealWorld, sent: Map<string, bigint[]>) {
    const expected: [string, bigint][] = [];
    for (const [hash, units] of sent) for (const one of units) expected.push([hash, one]);
    const { rows } = await world.pool.query<{ transaction: string; state: string; micro_usdt: bigint }>(
      `SELECT transaction, state, micro_usdt FROM deposits`,
    );
    expect(rows.every(({ state }) => state === 'credited')).toBe(true);
    const found = rows.map(({ transaction, micro_usdt }) => [transaction, micro_usdt] as [string, bigint]);
    expect(found.sort()).toEqual(expected.sort());
    const { rows: entries } = await world.pool.query<{ hash: string; micro_usdt: bigint }>(
      `SELECT split_part(reference, ':', 3) AS hash, micro_usdt FROM entries WHERE reference LIKE 'deposit:%'`,
    );
    expect(entries.map(({ hash, micro_usdt }) => [hash, micro_usdt]).sort()).toEqual(expected.sort());
    expect(await verifyLedger(world.pool)).toMatchObject({ findings: [] });
  }

  test.each([
    ['while it reads: nothing is booked', undefined, []],
    ['after it has read, with the cursor moved: nothing is booked', 'deposits', []],
    [
      'while it credits: both are booked',
      'partner_notices',
      ['accumulating 5000000', 'accumulating 6000000'],
    ],
  ])('kill -9 %s, and the next process credits each deposit once', async (_when, table, booked) => {
    const world = await startRealWorld();
    const [first, second] = [await world.newPartner(), await world.newPartner()];
    const transfers = [
      { account: first.account, units: 5n * usdt },
      { account: second.account, units: 6n * usdt },
    ];
    const hash = await world.node.send(world.token, transfers);
    await world.node.mine(confirmations + 1);
    const before = await world.cursor();

    const reached = world.proxy.holdNext(isEndOfRange());
    const service = await start(world);
    const held = await reached;
    const lock = table === undefined ? undefined : await lockTable(world, table);
    if (lock) {
      held.release();
      await expect.poll(lock.waiting).toBe(1);
    }
    await service.stop('SIGKILL');
    held.release();
    await lock?.release();
    // Rows and cursor exist together.
    expect((await world.cursor()) > before).toBe(booked.length > 0);
    expect(await world.states()).toEqual(booked);
    expect(await world.balanceOf(first.partnerId)).toBe(0n);

    await endLease(world);
    await start(world);
    await expect.poll(world.areCredited, { timeout: 20_000 }).toBe(true);
    await expectEachOnce(world, new Map([[hash, [5n * usdt, 6n * usdt]]]));
  });

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
    await expect.poll(() => world.balanceOf(partnerId), { timeout: 20_000 }).toBe(12n * usdt);
    const sent = new Map([
      [hash, [5n * usdt]],
      [next, [7n * usdt]],
    ]);
    await expectEachOnce(world, sent);
    expect(await world.alarmKinds()).not.toContain('deposit_watch_failing');
  });

  test('two processes watch at once and are killed at random moments: each deposit is credited once', async () => {
    const world = await startRealWorld();
    const random = createRandom(1);
    const partners = await Promise.all(Array.from({ length: 4 }, world.newPartner));
    // Nobody is kept from watching: both do, all the time.
    const freeing = setInterval(() => void endLease(world).catch(() => {}), 50);
    onTestFinished(() => clearInterval(freeing));
    const sent = new Map<string, bigint[]>();
    const depositMany = async () => {
      for (let block = 0; block < 2; block++) {
        for (let nth = 0; nth < 3; nth++) {
          const transfers = Array.from({ length: 3 }, () => ({
            account: random.pick(partners).account,
            units: BigInt(random.between(1_000_000, 9_000_000)),
          }));
          const units = transfers.map(transfer => transfer.units);
          sent.set(await world.node.send(world.token, transfers), units);
        }
        await world.node.mine();
      }
      await world.node.mine(confirmations);
    };
    const lastKill = 2;
    for (let kill = 0; kill <= lastKill; kill++) {
      await depositMany();
      const before = await world.cursor();
      const reached = world.proxy.holdNext(isEndOfRange());
      const pair = [start(world), start(world)];
      (await reached).release();
      // The last time: right after one of them has booked.
      if (kill === lastKill)
        await expect.poll(world.cursor, { interval: 5, timeout: 20_000 }).toBeGreaterThan(before);
      else await sleep(random.between(0, 1_000));
      await Promise.all(pair.map(async service => (await service).stop('SIGKILL')));
    }
    await depositMany();
    await Promise.all([start(world), start(world)]);
    const final = (await world.node.head()) - BigInt(confirmations);
    await expect.poll(world.cursor, { timeout: 40_000 }).toBe(final);
    await expect.poll(world.areCredited, { timeout: 20_000 }).toBe(true);
    await expectEachOnce(world, sent);
  }, 180_000);
});
