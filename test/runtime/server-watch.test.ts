import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { openDatabase } from '../../src/db/database.ts';
import { usedFolder } from '../helpers/folders.ts';
import { alarmsAfterRound } from './server-alarms.ts';

// A server of its own: a standby is seen by all databases of a server.
const { pool, close } = await openDatabase(readSettings({ DATA_DIR: usedFolder() }), () => {}, 'create');
afterAll(close);

const look = () => alarmsAfterRound(pool);

async function setOnServer(setting: string): Promise<void> {
  await pool.query(`ALTER SYSTEM ${setting}`);
  await pool.query('SELECT pg_reload_conf()');
}

/** Connects for replication and asks for the log, as a standby does; it confirms nothing. */
async function startStandby(): Promise<() => void> {
  const { host, port, user, database } = pool.options;
  const config = { host, port, user, database, replication: 'database' } as pg.ClientConfig;
  const standby = new pg.Client(config);
  standby.on('error', () => {});
  await standby.connect();
  const { rows } = await pool.query('SELECT pg_current_wal_lsn() AS lsn');
  standby.query(`START_REPLICATION PHYSICAL ${rows[0].lsn}`).catch(() => {});
  return () =>
    (standby as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

test('a standby for which no commit waits raises an alarm until it is gone, or a commit waits for it', async () => {
  expect(await look()).toEqual([]);
  let stopStandby = await startStandby();
  await expect.poll(look, { timeout: 10_000 }).toEqual(['asynchronous_standby']);
  stopStandby();
  await expect.poll(look, { timeout: 10_000 }).toEqual([]);

  // No commit waits with this one, which is never connected, and the setting is there.
  await setOnServer("SET synchronous_commit = 'local'");
  await setOnServer("SET synchronous_standby_names = 'other'");
  stopStandby = await startStandby();
  await expect
    .poll(async () => (await pool.query('SELECT state FROM pg_stat_replication')).rows, { timeout: 10_000 })
    .toEqual([{ state: 'streaming' }]);
  expect(await look()).toEqual([]);
  stopStandby();
});
