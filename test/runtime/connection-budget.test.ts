import { expect, test } from 'vitest';
import { connectionsPerProcess } from '../../src/db/postgres/connection-limits.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import { checkConnections } from '../../src/runtime/connection-budget.ts';
import { sharedDatabase } from '../helpers/database.ts';

const { pool } = await sharedDatabase();

/** A server with these limits. */
const serverWith = (allowed: number, used: number) =>
  ({ options: {}, query: async () => ({ rows: [{ allowed, used }] }) }) as unknown as Pool;

test('more processes than PostgreSQL has connections for are refused, with the number that fits', async () => {
  await expect(checkConnections(serverWith(97, 0), 5)).rejects.toThrow(
    /raise max_connections, or set PROCESSES to 4/,
  );
  expect(await checkConnections(serverWith(97, 0), 4)).toBeUndefined();
});

test('a second node that fits only without the first one is warned of', async () => {
  const used = 4 * connectionsPerProcess;
  expect(await checkConnections(serverWith(97, used), 4)).toContain(
    `raise max_connections to ${2 * used + 10}`,
  );
});

test('the limits of a real server are read, for any user', async () => {
  await pool.query('SET ROLE pg_read_all_data');
  await expect(checkConnections(pool, 1_000)).rejects.toThrow(/PostgreSQL allows \d+:/);
});
