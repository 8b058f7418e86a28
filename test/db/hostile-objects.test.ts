import { randomBytes } from 'node:crypto';
import type { PoolClient } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { uuidFromId } from '../../src/base/ids.ts';
import { grantRoles } from '../../src/db/roles/roles.ts';
import { createDatabase } from '../helpers/database.ts';
import { createPast } from '../payments/archive-world.ts';
import {
  admitHostile,
  callsOf,
  makeFunctions,
  makeTemporary,
  ownersFunctions,
  timesReached,
} from './hostile-world.ts';

const { pool } = await createDatabase();
const run = `hostile_${randomBytes(4).toString('hex')}`;
let partner: string;

/** Tables that a function with the rights of the owner could drop, or make. Partitions come and go. */
const tables = `
  SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p', 'v') AND c.relname !~ '_(\\d{8}|\\d{4}_\\d{2})$' ORDER BY 1`;
const listTables = async () => (await pool.query(tables)).rows;

beforeAll(async () => {
  const past = await createPast(pool);
  const partnerId = await past.newPartner();
  partner = uuidFromId(partnerId);
  for (let nth = 0; nth < 3; nth++) await past.pay(partnerId, { mode: 'test' });
  await pool.query("SELECT archive_prepare('2026-01-01')");
  await pool.query(`CREATE ROLE ${run} LOGIN`);
  await grantRoles(pool, { run });
  await admitHostile(pool, run);
  const made = await asRun(makeFunctions);
  expect(made.functions).toBeGreaterThan(100);
  expect(made.operators).toBeGreaterThan(50);
});

async function asRun<Result>(work: (session: PoolClient) => Promise<Result>): Promise<Result> {
  const session = await pool.connect();
  try {
    await session.query(`SET ROLE ${run}`);
    return await work(session);
  } finally {
    session.release(true);
  }
}

describe('no function with the rights of the owner reaches an object of its caller:', () => {
  test.each([
    ['log', 4],
    ['tables', 50],
    ['views', 50],
  ] as const)('%s, functions, operators and types', async (form, fewest) => {
    const before = await listTables();
    const done = await asRun(async session => {
      const made = await makeTemporary(session, form);
      expect(made.types).toBeGreaterThan(5);
      expect(made.relations).toBeGreaterThan(fewest);
      const did = new Set<string>();
      for (const each of await ownersFunctions(pool))
        for (const text of callsOf(each, partner)) {
          await session.query(text).then(
            () => did.add(each.name),
            () => {},
          );
          expect({ text, reached: await timesReached(pool) }).toEqual({ text, reached: 0 });
        }
      return did;
    });
    expect(await listTables()).toEqual(before);
    // They were not refused before they could reach anything.
    const working = [
      ...['archive_prepare', 'archive_payments', 'archive_entries'],
      ...['audit_chain_extend', 'log_partition_add', 'log_partition_drop', 'prune_test_data'],
    ];
    for (const name of working) expect([...done]).toContain(`public.${name}`);
    expect((await pool.query('SELECT FROM test_checkpoints')).rowCount).toBe(1);
  });

  test('one is reached by a function that looks for it where its caller says', async () => {
    await pool.query(
      `CREATE FUNCTION public.careless() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM audit'`,
    );
    await asRun(async session => {
      await makeTemporary(session, 'views');
      await session.query('SELECT public.careless()');
    });
    expect(await timesReached(pool)).toBeGreaterThan(0);
  });
});
