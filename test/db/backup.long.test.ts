import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { openStore } from '../../src/db/backup-store/open-store.ts';
import { isS3Installed } from '../helpers/s3-server.ts';
import {
  copyBackups,
  createBackupWorld,
  createS3World,
  inspect,
  payAndBackUp,
  readState,
  restoreInto,
  restoreRefusal,
  uuidOf,
} from './backup-world.ts';

const world = await createBackupWorld();
const { backups } = world;
const made = await payAndBackUp(world);

test('backup verify restores a good backup', async () => {
  const good = await world.run('backup', 'verify', made.backup.id);
  expect(good).toMatchObject({ code: 0, stdout: expect.stringContaining('The backup can be restored.') });
});

test('without an archive a backup is restored as it was at its end', async () => {
  const copy = copyBackups(backups);
  fs.rmSync(join(copy, 'wal'), { recursive: true });
  const { dataDir, code } = await restoreInto(copy, {});
  expect(code).toBe(0);
  const { payments, findings } = await inspect(dataDir);
  expect(findings).toEqual([]);
  expect(payments).toEqual(expect.arrayContaining(made.before.map(uuidOf)));
  expect(payments).not.toContain(uuidOf(made.first));
});

test('the WAL of a restored server leads on from the point where it was restored', async () => {
  const { dataDir } = await restoreInto(backups, {}, '--at', made.between.toISOString());
  // In a copy of the archive, so that the other tests keep theirs.
  const copy = copyBackups(backups);
  const key = 'a key that the first start made, long enough';
  fs.writeFileSync(join(dataDir, 'secret.key'), key, { mode: 0o600 });
  const second = await createBackupWorld(dataDir, copy);
  await second.pay();
  const state = await readState(second);
  await second.archiveAll();
  const again = await restoreInto(copy, {});
  expect({ code: again.code, stderr: again.code === 0 ? '' : again.stderr }).toEqual({ code: 0, stderr: '' });
  expect(await inspect(again.dataDir)).toEqual({ ...state, findings: [], newest: 'restore' });
});

test('a time after the last commit is one line', async () => {
  expect(await restoreRefusal(backups, '--at', '2999-01-01T00:00:00Z')).toMatch(
    /The backup and its WAL do not reach 2999-01-01T00:00:00.000Z: the last commit is of 20\d\d-/,
  );
});

test('missing and damaged WAL is named', async () => {
  const copy = copyBackups(backups);
  const last = join(copy, 'wal', basename(made.lastSegment));
  // The server goes on archiving.
  for (const file of fs.readdirSync(join(copy, 'wal')))
    if (file > basename(last)) fs.rmSync(join(copy, 'wal', file));
  // A later segment shows that there is a gap.
  const name = last.slice(-27, -3);
  const later =
    name.slice(0, -2) + (Number.parseInt(name.slice(-2), 16) + 1).toString(16).toUpperCase().padStart(2, '0');
  fs.renameSync(last, join(copy, 'wal', `${later}.gz`));
  expect(await restoreRefusal(copy)).toContain(`WAL segment ${name} is missing in ${copy}/wal`);

  fs.writeFileSync(last, 'not what it was');
  fs.rmSync(join(copy, 'wal', `${later}.gz`));
  expect(await restoreRefusal(copy)).toContain(
    `${name}.gz is damaged: restore to a time before it with --at.`,
  );
});

describe.runIf(isS3Installed)('backups in a bucket', async () => {
  if (!isS3Installed) return;
  const { s3, address, fileOf, world } = await createS3World();
  const idsIn = async () =>
    (await world.json('backup', 'list')).backups.map(({ id }: { id: string }) => id) as string[];
  const folders = () => openStore(address, readSettings(s3.env).s3).list('base');

  test('an upload that fails half way leaves no backup, and the next one removes its files', async () => {
    let left = 200;
    s3.refuse = ({ method }) =>
      method === 'PUT' && left-- < 0 ? { status: 403, code: 'AccessDenied' } : undefined;
    const failed = await world.run('backup');
    s3.refuse = () => undefined;
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    const lines = failed.stderr.split('\n').filter(line => !/ MB$/.test(line));
    expect(lines.join('\n')).toBe(
      `${s3.host} denies access to the bucket backups: give the key in AWS_ACCESS_KEY_ID the permissions to list it and to read, write and delete in it.\n`,
    );
    expect(await folders()).toHaveLength(1);
    expect(await idsIn()).toEqual([]);
    const restored = await restoreInto(address, s3.env);
    expect(restored.stderr).toBe(`There is no complete backup in ${address}: see kopeck backup list.\n`);
    const { id } = await world.json('backup');
    expect(await folders()).toEqual([id]);
    expect(await idsIn()).toEqual([id]);
  });

  test('verify names a damaged object', async () => {
    const [id] = await idsIn();
    fs.appendFileSync(fileOf(`base/${id}/data/PG_VERSION`), '!');
    const bad = await world.run('backup', 'verify');
    expect(bad).toMatchObject({ code: 1, stdout: expect.stringContaining('data/PG_VERSION is damaged') });
  });
});
