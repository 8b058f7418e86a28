import * as fs from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { createAlarms, listAlarms } from '../../src/alarms/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import { readSettings } from '../../src/base/settings.ts';
import { describeNotArchived, readWalArchiving } from '../../src/db/backup/wal-archiving.ts';
import { openDatabase } from '../../src/db/database.ts';
import { startServerWatch } from '../../src/runtime/server-watch.ts';
import { newFolder, usedFolder } from '../helpers/folders.ts';

// A server of its own: its standbys and its archive are seen by all its databases.
const backups = newFolder();
const settings = readSettings({ DATA_DIR: usedFolder(), BACKUP_DIR: backups });
const { pool, close } = await openDatabase(settings, () => {}, 'create');
afterAll(close);
const patient = { timeout: 60_000, interval: 100 };

/** The open alarms after one round of the watch. */
async function look(): Promise<string[]> {
  const alarms = createAlarms({ db: pool, clock: systemClock, log: { warn: () => {} } });
  const round = Promise.withResolvers<void>();
  const clock = { ...systemClock, sleep: async () => round.resolve() };
  const stop = startServerWatch({ db: pool, clock, alarms });
  await round.promise;
  await stop();
  return (await listAlarms(pool, { cleared: false })).map(({ kind }) => kind);
}

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
  await expect.poll(look).toEqual(['asynchronous_standby']);
  stopStandby();
  await expect.poll(look).toEqual([]);

  // No commit waits with this one, which is never connected, and the setting is there.
  await setOnServer("SET synchronous_commit = 'local'");
  await setOnServer("SET synchronous_standby_names = 'other'");
  stopStandby = await startStandby();
  await expect
    .poll(async () => (await pool.query('SELECT state FROM pg_stat_replication')).rows)
    .toEqual([{ state: 'streaming' }]);
  expect(await look()).toEqual([]);
  stopStandby();
  await setOnServer('RESET ALL');
});

/** Ends the segment, which wakes the archiver. */
async function endSegment(): Promise<void> {
  await pool.query('SELECT pg_logical_emit_message(true, $1, $1)', ['end']);
  await pool.query('SELECT pg_switch_wal()');
}

test('WAL that cannot be archived raises an alarm, which is cleared when it can', {
  timeout: 150_000,
}, async () => {
  await endSegment();
  await expect.poll(async () => (await readWalArchiving(pool)).archivedAt, patient).not.toBeNull();
  expect(await look()).toEqual([]);

  fs.renameSync(join(backups, 'wal'), join(backups, 'unmounted'));
  await endSegment();
  await expect.poll(look, patient).toEqual(['wal_not_archived']);
  const [{ detail } = { detail: '' }] = await listAlarms(pool, { cleared: false });
  expect(detail).toMatch(/^WAL file [0-9A-F]{24} could not be archived at 20\d\d-.* See its log/);
  expect((await readWalArchiving(pool)).waitingSec).toBeGreaterThanOrEqual(0);

  fs.renameSync(join(backups, 'unmounted'), join(backups, 'wal'));
  await endSegment();
  await expect.poll(look, patient).toEqual([]);
});

test('a role without pg_monitor reads how many segments wait', async () => {
  const client = await pool.connect();
  try {
    await client.query('CREATE ROLE plain');
    await client.query('SET ROLE plain');
    expect(await readWalArchiving(client)).toMatchObject({ isOn: true, waitingSec: undefined });
  } finally {
    client.release(true);
  }
});

test('a segment that waits too long is late, and one that waits a moment is not', () => {
  const unknown = { archivedAt: null, failed: undefined, waitingSec: undefined };
  const found = { isOn: true, ...unknown, waitingSegments: 0 };
  expect(describeNotArchived({ ...found, waitingSec: 299, waitingSegments: 99 })).toBeUndefined();
  expect(describeNotArchived({ ...found, waitingSec: 301 })).toMatch(
    /^WAL has waited for 301 s to be archived\./,
  );
  expect(describeNotArchived({ ...found, waitingSegments: 16 })).toBeUndefined();
  expect(describeNotArchived({ ...found, waitingSegments: 17 })).toMatch(/^17 segments of WAL wait/);
  const failed = { name: '0000000100000000000000FE', at: new Date(0) };
  expect(describeNotArchived({ ...found, isOn: false, failed })).toBeUndefined();
});
