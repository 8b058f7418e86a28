import { test as base, describe, expect } from 'vitest';
import { sqlStateOf } from '../../src/db/postgres/database-errors.ts';
import { openPool, type Pool } from '../../src/db/postgres/pool.ts';
import { keepPartitions } from '../../src/db/retention/partitions.ts';
import { startPruning } from '../../src/db/retention/prune.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase } from '../helpers/database.ts';
import { countWaiting } from '../helpers/locks.ts';

const dayMs = 86_400_000;
/** A Monday, so that the week of the clock begins now. */
const start = '2026-11-16T00:00:00.000Z';
const day = (number: number) => new Date(Date.parse(start) + number * dayMs);
const notices = { table: 'partner_notices', since: 'at', keptDays: 30 };

async function newLog() {
  const { pool } = await createDatabase();
  return { pool, clock: manualClock(start) };
}

const write = (pool: Pool, ...ats: Date[]) =>
  pool.query(
    `INSERT INTO partner_notices (partner_id, kind, details, at) SELECT NULL, 'rate_stale', '{}', unnest($1::timestamptz[])`,
    [ats],
  );
const whereRowsAre = async (pool: Pool) =>
  (await pool.query('SELECT tableoid::regclass::text AS part, at FROM partner_notices ORDER BY id')).rows.map(
    ({ part, at }) => [part, (at.getTime() - Date.parse(start)) / dayMs],
  );
/** Also those that are not attached. */
const tables = `SELECT relname FROM pg_class WHERE relname ~ '^partner_notices(_default|_\\d+)?$' ORDER BY relname`;
const tablesOf = async (pool: Pool) =>
  (await pool.query(tables)).rows.map(({ relname }) => relname.replace('partner_notices', ''));
const firstWeeks = ['', '_20261116', '_20261123', '_20261130', '_default'];
/** When those have gone. */
const laterWeeks = ['', '_20270104', '_20270111', '_20270118', '_default'];
const test = base.extend('log', () => newLog());

describe('a log with a partition per week', () => {
  test('has one for this week and two ahead, and rows that were there before are in them', async () => {
    const { pool, clock } = await newLog();
    await write(pool, day(0), day(6.99), day(7), day(-1), day(-40));
    await keepPartitions(pool, clock, notices);
    expect(await tablesOf(pool)).toEqual(firstWeeks);
    expect(await whereRowsAre(pool)).toEqual([
      ['partner_notices_20261116', 0],
      ['partner_notices_20261116', 6.99],
      ['partner_notices_20261123', 7],
      ['partner_notices_default', -1],
    ]);
    await write(pool, day(20.9));
    expect((await whereRowsAre(pool)).at(-1)).toEqual(['partner_notices_20261130', 20.9]);
  });

  test('takes rows of any time, and lets each go at its age', async ({ log: { pool, clock } }) => {
    await keepPartitions(pool, clock, notices);
    await write(pool, day(-3_650), day(-29), day(70), day(36_500));
    await keepPartitions(pool, clock, notices);
    const kept = async () => (await whereRowsAre(pool)).map(([, at]) => at);
    expect(await kept()).toEqual([-29, 70, 36_500]);
    // As after a stop of two months: nobody has made partitions, and the service writes.
    clock.advance(70 * dayMs);
    await write(pool, day(70.1));
    await keepPartitions(pool, clock, notices);
    expect(await whereRowsAre(pool)).toEqual([
      ['partner_notices_20270125', 70],
      ['partner_notices_default', 36_500],
      ['partner_notices_20270125', 70.1],
    ]);
  });

  test('keeps a row for thirty days to the millisecond, and for a week more at most', async () => {
    const { pool, clock } = await newLog();
    await keepPartitions(pool, clock, notices);
    const [first, last] = [day(0), new Date(day(7).getTime() - 1)];
    await write(pool, first, last);
    clock.advance(37 * dayMs - 1);
    await keepPartitions(pool, clock, notices);
    expect(await whereRowsAre(pool)).toHaveLength(2);
    clock.advance(1);
    await keepPartitions(pool, clock, notices);
    expect(await whereRowsAre(pool)).toEqual([]);
  });

  test('goes on numbering its rows, and refuses a DELETE that is not of one partition', async () => {
    const { pool, clock } = await newLog();
    await write(pool, day(0));
    await keepPartitions(pool, clock, notices);
    await write(pool, day(0), day(300));
    const { rows } = await pool.query('SELECT id FROM partner_notices ORDER BY id');
    expect(rows.map(({ id }) => id)).toEqual([1n, 2n, 3n]);
    await expect(
      pool.query('DELETE FROM partner_notices WHERE ctid = ANY (ARRAY(SELECT ctid FROM partner_notices))'),
    ).rejects.toThrow('its rows leave with their partition');
  });
});

/** On a busy machine a writer may hold its lock for longer than a change waits. */
const unlessInUse = (error: unknown) => expect(sqlStateOf(error)).toBe('55P03');

describe('partitions change', () => {
  test('once, when many processes do it at the same time', async ({ log: { pool, clock } }) => {
    const pools = Array.from({ length: 8 }, () => openPool({ ...pool.options }, 1));
    const keepAll = () =>
      Promise.all(
        pools.map(async (each, nth) => {
          await write(each, day(nth / 8));
          await keepPartitions(each, clock, notices).catch(unlessInUse);
        }),
      );
    await keepAll();
    await keepPartitions(pool, clock, notices);
    expect(await tablesOf(pool)).toEqual(firstWeeks);
    clock.advance(51 * dayMs);
    await keepAll();
    await keepPartitions(pool, clock, notices);
    expect(await tablesOf(pool)).toEqual(laterWeeks);
    await Promise.all(pools.map(each => each.end()));
  });

  test('while rows are written: one that arrives during the change is stored', async () => {
    const { pool, clock } = await newLog();
    const holder = await pool.connect();
    await holder.query('SELECT pg_advisory_lock(1)');
    await holder.query(`
      CREATE FUNCTION hold() RETURNS event_trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM set_config('lock_timeout', '5s', true), pg_advisory_xact_lock(1); END $$;
      CREATE EVENT TRIGGER hold ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION hold()`);
    const waiting = () => countWaiting(holder);
    const changing = keepPartitions(pool, clock, notices);
    await expect.poll(waiting).toBe(1);
    const written = write(pool, day(15));
    await expect.poll(waiting).toBe(2);
    await holder.query('SELECT pg_advisory_unlock(1)');
    await Promise.all([changing, written]);
    holder.release();
    expect(await whereRowsAre(pool)).toEqual([['partner_notices_20261130', 15]]);
  });

  test.for(['CREATE TABLE', 'ALTER TABLE', 'DROP TABLE'])(
    'wholly or not at all: death after %s',
    async (tag, { log: { pool, clock } }) => {
      await write(pool, day(0));
      if (tag === 'DROP TABLE') {
        await keepPartitions(pool, clock, notices);
        clock.advance(51 * dayMs);
      }
      const before = [await tablesOf(pool), await whereRowsAre(pool)];
      await pool.query(`
      CREATE FUNCTION die() RETURNS event_trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); END';
      CREATE EVENT TRIGGER die ON ddl_command_end WHEN TAG IN ('${tag}') EXECUTE FUNCTION die()`);
      await expect(keepPartitions(pool, clock, notices)).rejects.toThrow(/terminat/);
      expect([await tablesOf(pool), await whereRowsAre(pool)]).toEqual(before);
      await pool.query('DROP EVENT TRIGGER die');
      await keepPartitions(pool, clock, notices);
      expect(await tablesOf(pool)).toHaveLength(firstWeeks.length);
      expect(await whereRowsAre(pool)).toHaveLength(tag === 'DROP TABLE' ? 0 : 1);
    },
  );

  test('later, when the table is in use, and nobody waits for that', async ({ log: { pool, clock } }) => {
    await keepPartitions(pool, clock, notices);
    clock.advance(51 * dayMs);
    const reader = await pool.connect();
    await reader.query('BEGIN; SELECT FROM partner_notices');
    const pauses: number[] = [];
    const failures: object[] = [];
    const run = async () => {
      const paused = Promise.withResolvers<void>();
      const sleep = (ms: number, signal?: AbortSignal) => {
        pauses.push(ms);
        paused.resolve();
        return new Promise<void>(resolve => signal?.addEventListener('abort', () => resolve()));
      };
      const log = { error: (details: object) => void failures.push(details) };
      const stop = startPruning({ pool, clock: { ...clock, sleep }, log }, [
        (each, at) => keepPartitions(each, at, notices),
      ]);
      await paused.promise;
      await stop();
    };
    const changing = run();
    // Its own limit for a lock is 3 s; it gets one as soon as the change has given up.
    for (let nth = 0; nth < 20; nth++) await write(pool, day(51));
    await changing;
    expect(await tablesOf(pool)).toEqual(firstWeeks);
    await reader.query('COMMIT');
    reader.release();
    await run();
    expect(await tablesOf(pool)).toEqual(laterWeeks);
    expect(await whereRowsAre(pool)).toHaveLength(20);
    expect([pauses, failures]).toEqual([[60_000, 3_600_000], []]);
  });
});
