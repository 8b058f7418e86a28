import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { runAsLeader } from '../../src/bot/leader.ts';
import { tryConnection } from '../../src/db/postgres/dedicated-connection.ts';
import { listen } from '../../src/db/postgres/listen.ts';
import { startHeartbeat } from '../../src/db/processes/heartbeat.ts';
import { afterFile } from '../helpers/after-file.ts';
import { openDatabaseHost } from '../helpers/database-host.ts';
import { poolThrough, twoHistories } from '../helpers/histories.ts';

test('sessions of locks and messages leave an old server that goes on answering', async () => {
  const { older: old, newer: other } = await twoHistories();
  const host = await openDatabaseHost(old.options.database!);
  const { pool } = await poolThrough(host, 2);
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
  await expect.poll(() => leads).toBe(1);
  await expect.poll(listener.isListening).toBe(true);
  expect(await sessions()).toEqual(['kopeck bot', 'kopeck heartbeat', 'kopeck listener']);

  host.leadTo(other.options.database!);
  await expect(tryConnection(pool, 'history check', {})).rejects.toThrow('database has changed');
  expect(listener.isListening()).toBe(false);
  await expect.poll(sessions).toEqual([]);
  await expect.poll(() => leads).toBe(0);
  await expect.poll(heartbeat.isDatabaseAnswering).toBe(false);
});
