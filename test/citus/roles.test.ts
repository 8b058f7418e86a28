import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { newId, uuidFromId } from '../../src/base/ids.ts';
import { joinIncarnation } from '../../src/db/incarnation/join.ts';
import { keepPartitions } from '../../src/db/partitions.ts';
import { openPool, type Pool } from '../../src/db/pool.ts';
import { readOwnRights } from '../../src/db/roles.ts';
import { refreshCopies } from '../../src/db/shards/copies.ts';
import { openNodePool } from '../../src/db/shards/nodes.ts';
import { sessionOf, sessionOfAll } from '../../src/db/shards/sessions.ts';
import { credit, openAccounts } from '../../src/ledger/index.ts';
import { createPaymentWriter } from '../../src/payments/store.ts';
import { afterFile } from '../helpers/after-file.ts';
import { kopeck } from '../helpers/cli.ts';
import { manualClock } from '../helpers/clock.ts';
import { newFolder } from '../helpers/folders.ts';
import { openingsOf } from '../helpers/openings.ts';
import { secretKey, setRate } from '../helpers/partners.ts';
import { isCitusAvailable } from './available.ts';
import { createCitusDatabase } from './citus.ts';
import { startCitus } from './start.ts';

describe.runIf(isCitusAvailable)('the role of the service on Citus', async () => {
  if (!isCitusAvailable) return;
  const citus = await startCitus({ workers: 1 });
  const url = await createCitusDatabase(citus.coordinator.url, [citus.workers[0]!.url], 'kopeck');
  const env = { DATABASE_URL: url, SECRET_KEY: secretKey, DATA_DIR: newFolder() };
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  afterFile(() => owner.end());
  await kopeck(env, 'migrate');
  // Nodes reach each other as the user of the session, here with one password for all.
  const { password } = new URL(url);
  await owner.query(`CREATE ROLE runner LOGIN PASSWORD '${password}'`);
  // Before the first shard: new shards get the grants of the roles that have them.
  await kopeck(env, 'migrate', '--run-role', 'runner');
  const created = await kopeck(env, 'shard', 'create', '1');

  const asRunner = new URL(url);
  asRunner.username = 'runner';
  const open = (session: Record<string, string>, connectionString = asRunner.href): Pool => {
    const pool = openPool({ connectionString, session, distributed: [1], incarnation: 1 });
    afterFile(() => pool.end());
    return pool;
  };
  const pool = open(sessionOfAll(2));

  test('has all rights that it needs, and opens and ends payments on a worker', async () => {
    expect(created.code).toBe(0);
    expect(await readOwnRights(pool)).toEqual({
      user: 'runner',
      isSuper: false,
      isOwner: false,
      missing: [],
    });
    const { pool: node } = openNodePool(pool, 1, 2);
    afterFile(() => node.end());
    await setRate(pool);
    const partnerId = newId('prt', systemClock);
    await pool.query(
      "INSERT INTO partners (id, name, live_approved, created_at, concurrent, shard) VALUES ($1, 'Shop', true, now(), 9, 1)",
      [uuidFromId(partnerId)],
    );
    const through = open(sessionOf(1, 2));
    await openAccounts(through, partnerId);
    await credit(through, systemClock, [
      { partnerId, mode: 'live', reference: 'funding', microUsdt: 1_000_000_000n },
    ]);
    await refreshCopies(pool, node, 1);
    const opening = await openingsOf(pool, systemClock);
    const payment = opening(partnerId, { paymentId: newId('pay', systemClock) });
    const writer = createPaymentWriter(node, systemClock);
    expect(await writer.open(payment)).toMatchObject({ verdict: 'opened' });
    const { paymentId } = payment;
    await writer.finish({ partnerId, mode: 'live', paymentId, outcome: 'succeeded' });
    const { rows } = await node.query('SELECT status FROM payments');
    expect(rows).toEqual([{ status: 'succeeded' }]);
    await expect(node.query('DELETE FROM entries')).rejects.toThrow(/permission denied/);
  });

  test('has the rights that kopeck migrate gives, in a schema of this version', async () => {
    const asRun = { ...env, DATABASE_URL: asRunner.href };
    const { checks } = JSON.parse((await kopeck(asRun, 'doctor', '--json')).stdout);
    const of = (name: string) => checks.find(({ check }: { check: string }) => check === name);
    expect(of('privileges')).toMatchObject({ state: 'ok' });
    expect(of('schema')).toMatchObject({
      state: 'ok',
      detail: expect.stringContaining('those of this version'),
    });
  });

  test('keeps the partitions of the logs of a shard', async () => {
    const clock = manualClock('2026-02-01T00:00:00Z');
    const log = { table: 'gateway_calls', since: 'at', keptDays: 30 };
    const partitions = async () =>
      (
        await owner.query(
          "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'shard_1.gateway_calls'::regclass ORDER BY 1",
        )
      ).rows.map(({ name }) => name);
    await keepPartitions(open(sessionOf(1, 2)), clock, log);
    const first = 'shard_1.gateway_calls_20260126';
    expect(await partitions()).toContain(first);
    clock.advance(60 * 86_400_000);
    await keepPartitions(open(sessionOf(1, 2)), clock, log);
    expect(await partitions()).not.toContain(first);
  });

  test('begins an incarnation over all shards', async () => {
    const general = open({ search_path: 'public' });
    const joined = await joinIncarnation(
      { pool: general, clock: systemClock },
      { place: undefined, isRestored: true },
    );
    expect(joined.incarnation?.number).toBe(2);
    const { rows } = await owner.query('SELECT history FROM shard_1.shard_state');
    expect(rows).toEqual([{ history: 2 }]);
  });
});
