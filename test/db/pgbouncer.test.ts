import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { readSettings } from '../../src/base/settings.ts';
import { openDatabase } from '../../src/db/database.ts';
import { listen } from '../../src/db/postgres/listen.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { startHeartbeat } from '../../src/db/processes/heartbeat.ts';
import { sharedDatabase } from '../helpers/database.ts';
import { isPgBouncerInstalled, startPgBouncer } from '../helpers/pgbouncer.ts';

const open = (url: string) => openDatabase(readSettings({ DATABASE_URL: url }), () => {}, 'refuse');

describe.runIf(isPgBouncerInstalled)('through PgBouncer', async () => {
  if (!isPgBouncerInstalled) return;
  const { pool: direct } = await sharedDatabase();
  const name = direct.options.database!;

  test('in session mode every session has its time-outs and settings, also a server session used before', async () => {
    const url = await startPgBouncer(name, 'session');
    const shown = async () => {
      const pool = openPool({ connectionString: url, statement_timeout: 4_000 }, 1);
      const { rows } = await pool.query(
        `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
                current_setting('TimeZone') AS zone, pg_backend_pid() AS session`,
      );
      await pool.end();
      return rows[0];
    };
    const expected = { statement: '4s', lock: '3s', zone: 'UTC' };
    const first = await shown();
    expect(first).toMatchObject(expected);
    expect(await shown()).toEqual(first);
  });

  test('in session mode locks and messages of a session work', async () => {
    const { pool, close } = await open(await startPgBouncer(name, 'session'));
    const heartbeat = await startHeartbeat({ pool, clock: systemClock });
    let messages = 0;
    const listener = listen({ pool, clock: systemClock }, 'news', () => {
      messages += 1;
    });
    onTestFinished(async () => {
      await Promise.all([listener.close(), heartbeat.close()]);
      await close();
    });
    await expect.poll(listener.isListening, { timeout: 10_000 }).toBe(true);
    const before = messages;
    await direct.query('NOTIFY news');
    await expect.poll(() => messages).toBe(before + 1);
    expect(await heartbeat.findDead([heartbeat.instance])).toEqual([]);
  });

  test.each(['transaction', 'statement'])('%s mode is refused in one line that names the fix', async mode => {
    const url = await startPgBouncer(name, mode);
    await expect(open(url)).rejects.toThrow(
      /^DATABASE_URL leads through a connection pooler in transaction mode[^\n]*pool_mode = session/,
    );
  });
});
