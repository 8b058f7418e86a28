import { expect, inject, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { runAsLeader } from '../../src/bot/leader.ts';
import { createIncarnationGuard } from '../../src/db/history/guard.ts';
import { readIdentity } from '../../src/db/history/identity.ts';
import { joinIncarnation } from '../../src/db/history/join.ts';
import { createNewestHistory } from '../../src/db/history/newest-history.ts';
import { tryConnection } from '../../src/db/postgres/dedicated-connection.ts';
import { listen } from '../../src/db/postgres/listen.ts';
import { openPool, type Pool } from '../../src/db/postgres/pool.ts';
import { startHeartbeat } from '../../src/db/processes/heartbeat.ts';
import { afterFile } from '../helpers/after-file.ts';
import { copyDatabase } from '../helpers/copied-database.ts';
import { createDatabase } from '../helpers/database.ts';
import { openDatabaseHost } from '../helpers/database-host.ts';

const join = (pool: Pool, isRestored: boolean) =>
  joinIncarnation({ pool, clock: systemClock }, { place: undefined, isRestored });

test('sessions of locks and messages leave an old server that goes on answering', async () => {
  const { pool: old } = await createDatabase();
  await join(old, false);
  const other = await copyDatabase(old);
  await join(other, true);

  const host = await openDatabaseHost(old.options.database!);
  const guard = createIncarnationGuard(createNewestHistory());
  const { user } = inject('connection');
  const { check, isCurrent } = guard;
  const pool = openPool({ host: '127.0.0.1', port: host.port, user, database: 'any', check, isCurrent }, 2);
  guard.stayWith(await readIdentity(pool));
  const heartbeat = await startHeartbeat({ pool, clock: systemClock });
  const listener = listen({ pool, clock: systemClock }, 'news', () => {});
  let leads = 0;
  const stopLeading = runAsLeader({ pool, clock: systemClock, onError: () => {} }, async signal => {
    leads += 1;
    await new Promise(resolve => signal.addEventListener('abort', resolve));
    leads -= 1;
  });
  afterFile(async () => {
    await Promise.all([listener.close(), heartbeat.close(), stopLeading()]);
    await pool.end();
  });
  const sessions = async () => {
    const { rows } = await old.query<{ name: string }>(
      `SELECT application_name AS name FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'kopeck _%' ORDER BY name`,
    );
    return rows.map(({ name }) => name);
  };
  await expect.poll(() => leads, { timeout: 10_000 }).toBe(1);
  await expect.poll(listener.isListening, { timeout: 10_000 }).toBe(true);
  expect(await sessions()).toEqual(['kopeck bot', 'kopeck heartbeat', 'kopeck listener']);

  host.leadTo(other.options.database!);
  await expect(tryConnection(pool, 'history check', {})).rejects.toThrow('database has changed');
  expect(listener.isListening()).toBe(false);
  await expect.poll(sessions, { timeout: 10_000 }).toEqual([]);
  await expect.poll(() => leads, { timeout: 10_000 }).toBe(0);
  await expect.poll(heartbeat.isDatabaseAnswering, { timeout: 10_000 }).toBe(false);
}, 60_000);
