import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kopeck } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';
import { isS3Installed } from '../helpers/s3-server.ts';
import { createS3World, inspect, restoreInto, uuidOf } from './backup-world.ts';

describe.runIf(isS3Installed)('backups in a bucket', async () => {
  if (!isS3Installed) return;
  const { s3, address, world } = await createS3World();

  test('a point in time is restored from the bucket with the WAL that was archived there', async () => {
    await world.json('backup');
    const first = await world.pay();
    const between = await world.timeBetween();
    const second = await world.pay();
    await world.archiveAll();
    const { dataDir, code, stderr } = await restoreInto(address, s3.env, '--at', between.toISOString());
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    const { payments, findings } = await inspect(dataDir);
    expect(findings).toEqual([]);
    expect(payments).toContain(uuidOf(first));
    expect(payments).not.toContain(uuidOf(second));
  });

  test('archived WAL is never replaced, and a bucket that cannot be reached is not the end of the WAL', async () => {
    const name = '0000000100000000000000FE';
    const source = join(newFolder(), name);
    const env = { ...s3.env, BACKUP_DIR: 's3://backups/wal-only' };
    const archive = () => kopeck(env, 'archive-wal', source, name);
    fs.writeFileSync(source, 'of this server');
    expect((await Promise.all([archive(), archive()])).map(({ code }) => code)).toEqual([0, 0]);
    fs.writeFileSync(source, 'of another server');
    expect(await archive()).toMatchObject({
      code: 1,
      stderr: `s3://backups/wal-only/wal/${name}.gz has other content: each server needs its own backup folder.\n`,
    });
    const target = join(newFolder(), 'restored');
    const restore = (more: object, which = name) => kopeck({ ...env, ...more }, 'restore-wal', which, target);
    expect((await restore({})).code).toBe(0);
    expect(fs.readFileSync(target, 'utf8')).toBe('of this server');
    expect((await restore({}, '0000000100000000000000FF')).code).toBe(1);
    expect(await restore({ AWS_ENDPOINT_URL: 'http://127.0.0.1:2' })).toMatchObject({
      code: 200,
      stderr: '127.0.0.1:2 cannot be reached (ECONNREFUSED): check AWS_ENDPOINT_URL.\n',
    });
  });

  test.each([
    [{ AWS_ACCESS_KEY_ID: '' }, /^AWS_ACCESS_KEY_ID must be set for s3:\/\/backups\. /],
    [{ AWS_SECRET_ACCESS_KEY: '' }, /^AWS_SECRET_ACCESS_KEY must be set for s3:\/\/backups\. /],
    [{ AWS_ACCESS_KEY_ID: 'other' }, /does not know the key in AWS_ACCESS_KEY_ID: correct it\.$/],
    [{ AWS_SECRET_ACCESS_KEY: 'wrong-secret' }, /AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID/],
    [{ AWS_ENDPOINT_URL: '' }, /^AWS_REGION must be set for s3:\/\/backups\. /],
    [{ AWS_ENDPOINT_URL: 'http://me:wrong-secret@127.0.0.1' }, /^AWS_ENDPOINT_URL must be an http/],
    [{ BACKUP_DIR: 's3://nobody-made-it/x' }, /^There is no bucket nobody-made-it at \S+: create it/],
    [{ BACKUP_DIR: 's3://backups/../x' }, /^s3:\/\/backups\/\.\.\/x is not a bucket address/],
  ])('%j is refused in one line without a secret', async (wrong, line) => {
    const { code, stdout, stderr } = await kopeck(
      { BACKUP_DIR: address, ...s3.env, ...wrong },
      'backup list',
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd()).toMatch(line);
    expect(stderr.split('\n')).toHaveLength(2);
    expect(stderr).not.toMatch(/secret-that|wrong-secret/);
  });
});
