import { expect, test } from 'vitest';
import { openPool } from '../../src/db/postgres/pool.ts';
import { pruneCalls } from '../../src/gateway/index.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';

const { pool } = await createDatabase();
/** One session, so that it can say what its statements have read. */
const pruner = openPool({ ...pool.options }, 1);
const clock = manualClock();
const weekMs = 7 * 86_400_000;
const callsPerWeek = 2_000;

const fillWeek = () =>
  pool.query(
    `INSERT INTO gateway_calls (payment_id, at, call, duration_ms, outcome, response)
     SELECT gen_random_uuid(), $1::timestamptz + make_interval(secs => n), 'poll', 1, 'accepted', repeat('x', 1000)
       FROM generate_series(1, $2::int) AS n`,
    [new Date(clock.nowMs()), callsPerWeek],
  );

const blocksTouched = async () => {
  const { rows } = await pruner.query(
    `SELECT sum(hits + reads)::int AS blocks, pg_stat_force_next_flush()::text FROM pg_stat_get_backend_io(pg_backend_pid())`,
  );
  return rows[0].blocks;
};

const count = async (sql: string) => (await pool.query(`SELECT (${sql})::int AS count`)).rows[0].count;

test('a prune costs the same after more cycles: old calls leave with their partition', async () => {
  for (let week = 0; week < 14; week++) {
    await pruneCalls(pruner, clock);
    await fillWeek();
    clock.advance(weekMs);
  }
  await pruneCalls(pruner, clock);
  const [rows, pages, blocks]: number[][] = [[], [], []];
  for (let cycle = 0; cycle < 4; cycle++) {
    await fillWeek();
    clock.advance(weekMs);
    // What autovacuum does between two rounds.
    await pool.query('VACUUM (ANALYZE) gateway_calls');
    await blocksTouched();
    const before = await blocksTouched();
    await pruneCalls(pruner, clock);
    await blocksTouched();
    blocks!.push((await blocksTouched()) - before);
    rows!.push(await count('SELECT count(*) FROM gateway_calls'));
    pages!.push(
      await count(
        "SELECT sum(pg_relation_size(relid)) / 8192 FROM pg_partition_tree('gateway_calls') WHERE isleaf",
      ),
    );
  }
  // Each week begins with its calls: after twelve weeks those of one are older than ninety days.
  expect(new Set(rows)).toEqual(new Set([12 * callsPerWeek]));
  expect(new Set(pages).size).toBe(1);
  // To delete a week of rows one by one touches more blocks than it has rows, in every cycle. The smallest counts: when much goes on in
  // other databases of the server, a session loses its catalog caches and reads them again.
  expect(Math.min(...blocks!)).toBeLessThan(callsPerWeek);
  await pruner.end();
});
