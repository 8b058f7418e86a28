import { afterAll, expect, test, vi } from 'vitest';
import { openDedicatedConnection } from '../../src/db/dedicated-connection.ts';
import { startHeartbeat } from '../../src/db/heartbeat.ts';
import { createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
const [one, other] = [await startHeartbeat(pool), await startHeartbeat(pool)];
afterAll(() => Promise.all([one.close(), other.close()]));

const sessionsOf = async (instance: number) =>
  (
    await pool.query<{ pid: number }>(
      `SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE l.locktype = 'advisory' AND l.objid = $1 AND d.datname = current_database()`,
      [instance],
    )
  ).rows;

test('a connected process is alive, one that never connected is dead', async () => {
  expect(one.instance).not.toBe(other.instance);
  expect(await one.findDead([one.instance, other.instance, 999_999])).toEqual([999_999]);
  expect(await one.findDead([])).toEqual([]);
});

test('a session that was terminated is opened again under the same number', async () => {
  const [{ pid }] = (await sessionsOf(other.instance)) as [{ pid: number }];
  await pool.query('SELECT pg_terminate_backend($1)', [pid]);
  await vi.waitFor(
    async () => {
      const sessions = await sessionsOf(other.instance);
      expect(sessions).toHaveLength(1);
      expect(sessions[0]!.pid).not.toBe(pid);
    },
    { timeout: 5_000 },
  );
  expect(await one.findDead([other.instance])).toEqual([]);
  expect(other.isDatabaseAnswering()).toBe(true);
});

test('dedicated sessions have keep-alives of the server too', async () => {
  // The heartbeat's session reports only its own settings, so another session of the same kind is asked.
  let found: unknown[] = [];
  const session = openDedicatedConnection(pool, 'test', async client => {
    found = (await client.query("SELECT 1 FROM pg_settings WHERE name LIKE 'tcp_%' AND source = 'client'"))
      .rows;
  });
  await vi.waitFor(() => expect(found).toHaveLength(4));
  await session.close();
});

test('a process that closes is dead at once', async () => {
  const third = await startHeartbeat(pool);
  await third.close();
  await vi.waitFor(async () => expect(await one.findDead([third.instance])).toEqual([third.instance]));
});
