import { expect, onTestFinished } from 'vitest';
import { verifyLedger } from '../../../src/ledger/index.ts';
import { type Service, startService } from '../../helpers/cli.ts';
import type { Call } from './node-proxy.ts';
import { confirmations, isByHash, type RealWorld, serviceEnv, startRealWorld, usdt } from './world.ts';

export async function start(world: RealWorld): Promise<Service> {
  const service = await startService(serviceEnv(world));
  onTestFinished(async () => void (await service.stop('SIGKILL')));
  return service;
}

/** As if a minute had passed: the lease of a process that does not run any more is over. */
export const endLease = (world: RealWorld) =>
  world.pool.query(`UPDATE deposit_chains SET lease_until = 'epoch'`);

/** Nobody else writes to the table until it is released. */
export async function lockTable(world: RealWorld, table: string) {
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
export function isEndOfRange(): (call: Call) => boolean {
  let hasLogs = false;
  return ({ method, params }) => {
    hasLogs ||= isByHash({ method, params });
    return hasLogs && method === 'eth_getBlockByNumber' && params[0] !== 'latest';
  };
}

/** What each transfer pays, by transaction, as the node has it in the end. */
export async function expectEachOnce(world: RealWorld, sent: Map<string, bigint[]>) {
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

/** Two deposits; a service is killed while it waits for the table, or without one when it has read them; another goes on. */
export async function killWatcher(table: string | undefined, booked: string[]): Promise<void> {
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
    // Other parts of the service write to the table too.
    if (booked.length > 0) await expect.poll(world.cursor).toBeGreaterThan(before);
    await expect.poll(lock.waiting).toBeGreaterThan(0);
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
  await expect.poll(world.areCredited).toBe(true);
  await expectEachOnce(world, new Map([[hash, [5n * usdt, 6n * usdt]]]));
}
