import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { listAlarms } from '../../src/alarms/index.ts';
import { readSettings } from '../../src/base/settings.ts';
import { openDatabase } from '../../src/db/database.ts';
import { describeNotArchived, readWalArchiving } from '../../src/db/wal-archiving.ts';
import { newFolder, usedFolder } from '../helpers/folders.ts';
import { alarmsAfterRound } from './server-alarms.ts';

const backups = newFolder();
const settings = readSettings({ DATA_DIR: usedFolder(), BACKUP_DIR: backups });
const { pool, close } = await openDatabase(settings, () => {}, 'create');
afterAll(close);
const patient = { timeout: 60_000, interval: 200 };

const look = () => alarmsAfterRound(pool);

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
  const found = {
    isOn: true,
    archivedAt: null,
    failed: undefined,
    waitingSec: undefined,
    waitingSegments: 0,
  };
  expect(describeNotArchived({ ...found, waitingSec: 299, waitingSegments: 99 })).toBeUndefined();
  expect(describeNotArchived({ ...found, waitingSec: 301 })).toMatch(
    /^WAL has waited for 301 s to be archived\./,
  );
  expect(describeNotArchived({ ...found, waitingSegments: 16 })).toBeUndefined();
  expect(describeNotArchived({ ...found, waitingSegments: 17 })).toMatch(/^17 segments of WAL wait/);
  const failed = { name: '0000000100000000000000FE', at: new Date(0) };
  expect(describeNotArchived({ ...found, isOn: false, failed })).toBeUndefined();
});
