import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  formatLsn,
  parseLsn,
  parseSegment,
  segmentAt,
  segmentName,
} from '../../src/db/backup-store/wal-names.ts';
import { kopeck, kopeckProcess } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';

const name = '0000000100000000000000FE';

function createArchive() {
  const dir = newFolder();
  fs.mkdirSync(join(dir, 'wal'));
  const source = join(dir, 'segment');
  fs.writeFileSync(source, Buffer.alloc(1_000_000, 'wal'));
  return { dir, source, archive: () => kopeck({ BACKUP_DIR: dir }, 'archive-wal', source, name) };
}

test('a WAL file is archived once, compressed, and comes back as it was', async () => {
  const { dir, source, archive } = createArchive();
  const results = await Promise.all([archive(), archive(), archive()]);
  expect(results.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(fs.readdirSync(join(dir, 'wal'))).toEqual([`${name}.gz`]);
  expect(fs.statSync(join(dir, 'wal', `${name}.gz`)).size).toBeLessThan(100_000);
  const target = join(dir, 'restored');
  expect((await kopeckProcess({}, 'restore-wal', name, target, '--from', dir)).code).toBe(0);
  expect(fs.readFileSync(target).equals(fs.readFileSync(source))).toBe(true);
});

test('a different file of the same name is refused, and the archived one stays', async () => {
  const { dir, source, archive } = createArchive();
  await archive();
  const before = fs.readFileSync(join(dir, 'wal', `${name}.gz`));
  fs.writeFileSync(source, 'of another server');
  expect(await archive()).toMatchObject({
    code: 1,
    stderr: `${dir}/wal/${name}.gz has other content: each server needs its own backup folder.\n`,
  });
  expect(fs.readFileSync(join(dir, 'wal', `${name}.gz`)).equals(before)).toBe(true);
  expect(fs.readdirSync(join(dir, 'wal'))).toEqual([`${name}.gz`]);
});

test('a folder that is not mounted is not made, and the call fails so that PostgreSQL keeps the segment', async () => {
  const { dir, archive } = createArchive();
  fs.rmSync(join(dir, 'wal'), { recursive: true });
  expect(await archive()).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no folder') });
  expect(fs.existsSync(join(dir, 'wal'))).toBe(false);
});

test('a missing file ends the recovery, a damaged one stops it', async () => {
  const { dir, archive } = createArchive();
  const restore = () => kopeck({ BACKUP_DIR: dir }, 'restore-wal', name, join(dir, 'restored'));
  expect((await restore()).code).toBe(1);
  await archive();
  fs.truncateSync(join(dir, 'wal', `${name}.gz`), 100);
  expect(await restore()).toMatchObject({ code: 200, stderr: `${dir}/wal/${name}.gz is damaged.\n` });
  expect(fs.existsSync(join(dir, 'restored'))).toBe(false);
});

test('only names of WAL files are archived', async () => {
  const { dir, source } = createArchive();
  for (const wrong of ['../segment', 'segment', `${name}.gz`]) {
    const { stderr } = await kopeck({ BACKUP_DIR: dir }, 'archive-wal', source, wrong);
    expect(stderr).toContain('is not the name');
  }
  expect(fs.readdirSync(join(dir, 'wal'))).toEqual([]);
});

test('segments are named as PostgreSQL names them', () => {
  const bytes = 16 * 1024 * 1024;
  const lsn = parseLsn('1/FF000028');
  expect(formatLsn(lsn)).toBe('1/FF000028');
  const segment = { timeline: 26, number: segmentAt(lsn, bytes) };
  expect(segmentName(segment, bytes)).toBe('0000001A00000001000000FF');
  expect(segmentName({ ...segment, number: segment.number + 1 }, bytes)).toBe('0000001A0000000200000000');
  expect(parseSegment('0000001A00000001000000FF', bytes)).toEqual(segment);
});
