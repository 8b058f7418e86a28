import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { kopeck } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';
import {
  copyBackups,
  createBackupWorld,
  inspect,
  payAndBackUp,
  restoreInto,
  restoreRefusal,
  uuidOf,
} from './backup-world.ts';

const world = await createBackupWorld();
const { backups } = world;
const readMark = (dataDir: string) => JSON.parse(fs.readFileSync(join(dataDir, 'restored.json'), 'utf8'));

const made = await payAndBackUp(world);

test('a backup made under load is restored with every payment, and the books are in order', async () => {
  const { dataDir, code, stderr, stdout } = await restoreInto(backups, {});
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('Now run bin/kopeck start.');
  expect(made.during.length).toBeGreaterThan(0);
  const mark = readMark(dataDir);
  const { restored_at, until, ...rest } = mark;
  expect({ ...rest, at: typeof restored_at }).toEqual({ backup_id: made.backup.id, at: 'string' });
  expect(Date.parse(until)).toBeGreaterThan(made.between.getTime());
  expect(fs.readdirSync(dataDir).sort()).toEqual(['postgres', 'restored.json']);
  expect(await inspect(dataDir)).toEqual({ ...made.state, findings: [], newest: 'restore' });
  expect(fs.readdirSync(dataDir).sort()).toEqual(['postgres', 'postgres.log']);
});

test('a point in time between two payments has the first and not the second', async () => {
  const { dataDir, code } = await restoreInto(backups, {}, '--at', made.between.toISOString());
  expect(code).toBe(0);
  expect(Date.parse(readMark(dataDir).until)).toBeLessThanOrEqual(made.between.getTime());
  const { payments, findings } = await inspect(dataDir);
  expect(findings).toEqual([]);
  expect(payments).toContain(uuidOf(made.first));
  expect(payments).not.toContain(uuidOf(made.second));
});

test('a time before the first backup is one line', async () => {
  expect(await restoreRefusal(backups, '--at', '2020-01-01T00:00:00Z')).toBe(
    `No backup was complete at 2020-01-01T00:00:00.000Z: the first time that can be restored is ${made.backup.finished_at}.\n`,
  );
});

test('a damaged or missing file of the backup is named', async () => {
  const copy = copyBackups(backups);
  const folder = join(copy, 'base', made.backup.id);
  fs.appendFileSync(join(folder, 'data', 'PG_VERSION'), '!');
  fs.rmSync(join(folder, 'data', 'global', 'pg_control'));
  expect(await restoreRefusal(copy)).toBe(
    `The backup ${made.backup.id} cannot be used: data/PG_VERSION is damaged, data/global/pg_control is missing. Use another one.\n`,
  );
  fs.appendFileSync(join(folder, 'manifest.json'), '!');
  expect(await restoreRefusal(copy)).toMatch(/manifest\.json is damaged: this backup cannot be used\.\n$/);
});

test('damaged WAL in a file that can be read is named, and nothing is restored', async () => {
  const copy = copyBackups(backups);
  const last = join(copy, 'wal', basename(made.lastSegment));
  for (const file of fs.readdirSync(join(copy, 'wal')))
    if (file > basename(last)) fs.rmSync(join(copy, 'wal', file));
  const content = gunzipSync(fs.readFileSync(last));
  const end = content.findLastIndex(byte => byte !== 0);
  content.fill(0xff, Math.floor(end / 2), Math.floor(end / 2) + 300);
  fs.writeFileSync(last, gzipSync(content));
  expect(await restoreRefusal(copy)).toContain(
    `The WAL cannot be read beyond segment ${basename(last, '.gz')}, which is damaged`,
  );
});

test('a backup whose list names a path outside of it is refused', async () => {
  for (const path of ['data/../../../../outside', '/outside', 'data//x']) {
    const copy = copyBackups(backups);
    const manifest = join(copy, 'base', made.backup.id, 'manifest.json');
    const text = fs.readFileSync(manifest, 'utf8').replace('"data/PG_VERSION"', JSON.stringify(path));
    const body = text.trimEnd().slice(0, text.trimEnd().lastIndexOf('\n'));
    fs.writeFileSync(manifest, `${body}\n${createHash('sha256').update(body).digest('hex')}\n`);
    expect(await restoreRefusal(copy)).toContain(`names ${path}, which is not in the backup`);
  }
});

test('a folder that is not empty is left as it is', async () => {
  const dataDir = newFolder();
  fs.writeFileSync(join(dataDir, 'notes.txt'), 'mine');
  const { code, stderr } = await kopeck({ DATA_DIR: dataDir }, 'restore', '--from', backups);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `${dataDir} is not empty: set DATA_DIR to a folder that does not exist. Nothing was written.\n`,
  });
  expect(fs.readdirSync(dataDir)).toEqual(['notes.txt']);
});
