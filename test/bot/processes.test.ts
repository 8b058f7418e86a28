import { expect, test } from 'vitest';
import { createDatabase } from '../helpers/database.ts';
import { ownerOf, startTestBot } from './setup.ts';

const { pool } = await createDatabase();
const world = await startTestBot({ pool });
const { telegram } = world;

const leaders = async () => {
  const { rows } = await pool.query<{ pid: number }>(
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = ${0x63686174}::oid AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
  return rows.map(({ pid }) => pid);
};

test('leader election: one of several processes polls; when its connection is cut, another takes over', async () => {
  const { owner } = await ownerOf(world, pool, 'Relay');
  world.start();
  await owner.writes('/menu', /Your role/);
  const [first, ...others] = await leaders();
  expect(others).toEqual([]);
  await pool.query('SELECT pg_terminate_backend($1)', [first]);
  await expect
    .poll(async () => (await leaders()).filter(pid => pid !== first).length, { timeout: 10_000 })
    .toBe(1);
  await owner.writes('/menu', /Your role/);
  await owner.goes(['💰 Balance', /Amount per payment/]);
  await expect.poll(() => telegram.unansweredPresses()).toEqual([]);
});
