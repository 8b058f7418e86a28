import { afterAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openDedicatedConnection } from '../../src/db/postgres/dedicated-connection.ts';
import { startHeartbeat } from '../../src/db/processes/heartbeat.ts';
import { pruneBeats } from '../../src/db/processes/process-beats.ts';
import { manualClock } from '../helpers/clock.ts';
import { createDatabase, createTimedDatabase } from '../helpers/database.ts';

const { pool, clock } = await createTimedDatabase();
const [one, other] = [await startHeartbeat({ pool, clock }), await startHeartbeat({ pool, clock })];
afterAll(() => Promise.all([one.close(), other.close()]));

const sessionsOf = async (instance: number, of = pool) => {
  const { rows } = await pool.query<{ pid: number }>(
    `SELECT a.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
      WHERE l.locktype = 'advisory' AND l.objid = $1 AND a.datname = $2`,
    [instance, of.options.database],
  );
  return rows;
};

test('a connected process is alive, one that never connected is dead', async () => {
  expect(one.instance).not.toBe(other.instance);
  expect(await one.findDead([one.instance, other.instance, 999_999])).toEqual([999_999]);
  expect(await one.findDead([])).toEqual([]);
});

test('a session that was terminated is opened again under the same number', async () => {
  const [{ pid }] = (await sessionsOf(other.instance)) as [{ pid: number }];
  await pool.query('SELECT pg_terminate_backend($1)', [pid]);
  await clock.until(async () => {
    const [session, ...more] = await sessionsOf(other.instance);
    expect(session).toBeDefined();
    expect(session!.pid).not.toBe(pid);
    expect(more).toEqual([]);
  });
  expect(await one.findDead([other.instance])).toEqual([]);
  expect(other.isDatabaseAnswering()).toBe(true);
});

describe('beats', () => {
  const beats = async () =>
    (await pool.query<{ instance: number; at: Date; synchronous: boolean }>('SELECT * FROM process_beats'))
      .rows;
  const beatOf = async (instance: number) => (await beats()).find(beat => beat.instance === instance);

  test('are committed each second, with the time of the database', async () => {
    await clock.until(async () => expect(await beatOf(one.instance)).toBeDefined());
    const { at, synchronous } = (await beatOf(one.instance))!;
    expect(synchronous).toBe(false);
    await clock.until(async () => expect((await beatOf(one.instance))!.at > at).toBe(true));
    const { rows } = await pool.query('SELECT now() - max(at) < $1 AS recent FROM process_beats', ['3 s']);
    expect(rows).toEqual([{ recent: true }]);
  });

  test('of a process that stops are removed, the newest of all never', async () => {
    const database = await createDatabase();
    const instances = async () =>
      (await database.pool.query('SELECT instance FROM process_beats')).rows.map(row => row.instance);
    const start = async () => {
      const own = manualClock();
      const beats = await startHeartbeat({ pool: database.pool, clock: own });
      await own.until(async () => expect(await instances()).toContain(beats.instance));
      return { ...beats, own };
    };
    const first = await start();
    await database.pool.query("INSERT INTO process_beats VALUES (900000, now() + interval '1 hour', false)");
    // A beat that is due in this moment must not bring the row back.
    void first.own.advance(1_000);
    await first.close();
    expect(await instances()).toEqual([900_000]);
    await database.pool.query('DELETE FROM process_beats');
    const last = await start();
    await last.close();
    expect(await instances()).toEqual([last.instance]);
    await pruneBeats(database.pool, { ...systemClock, nowMs: () => Date.now() + 10 * 86_400_000 });
    expect(await instances()).toEqual([last.instance]);
  });

  test('of dead processes go after a day', async () => {
    const ages = ['1 h', '23 h', '25 h', '3 days'];
    await pool.query(
      `INSERT INTO process_beats SELECT 900000 + nth, now() - age, false
         FROM unnest($1::interval[]) WITH ORDINALITY AS a (age, nth)`,
      [ages],
    );
    expect(await pruneBeats(pool, systemClock)).toBe(2);
    expect(await beatOf(900_002)).toBeDefined();
  });
});

test('a server that became read-only answers, and does not commit', async () => {
  const database = await createDatabase();
  const name = database.pool.options.database;
  const stepped = manualClock();
  const reasons: string[] = [];
  const onSilence = (reason: string) => void reasons.push(reason);
  const beats = await startHeartbeat({ pool: database.pool, clock: stepped }, { onSilence });
  const sessionOf = async () => (await sessionsOf(beats.instance, database.pool))[0]?.pid;
  await pool.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  let last = await sessionOf();
  await pool.query('SELECT pg_terminate_backend($1, 5000)', [last]);
  for (let nth = 1; nth <= 6; nth++) {
    // The session is opened again before the next beat is due, and closed when that beat is refused.
    const dueMs = stepped.nowMs() + 1_000;
    const opened = async () => {
      await stepped.advance(25);
      return sessionOf();
    };
    await expect.poll(opened, { interval: 2 }).toSatisfy(pid => pid !== undefined && pid !== last);
    last = await sessionOf();
    await stepped.advance(dueMs - stepped.nowMs());
    await expect.poll(sessionOf).not.toBe(last);
  }
  expect(beats.isDatabaseAnswering()).toBe(true);
  expect(beats.canCommit()).toBe(false);
  expect(reasons.at(-1)).toBe('the database is read-only');
  await beats.close();
});

test('dedicated sessions have keep-alives of the server too', async () => {
  // The heartbeat's session reports only its own settings, so another session of the same kind is asked.
  let found: unknown[] = [];
  const session = openDedicatedConnection({ pool, clock }, 'test', async client => {
    found = (await client.query("SELECT 1 FROM pg_settings WHERE name LIKE 'tcp_%' AND source = 'session'"))
      .rows;
  });
  await expect.poll(() => found).toHaveLength(4);
  await session.close();
});

test('a process that closes is dead at once', async () => {
  const third = await startHeartbeat({ pool, clock });
  await third.close();
  await expect.poll(() => one.findDead([third.instance])).toEqual([third.instance]);
});
