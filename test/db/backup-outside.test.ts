import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openEmbedded } from '../../src/db/embedded/server.ts';
import { afterFile } from '../helpers/after-file.ts';
import { kopeck } from '../helpers/cli.ts';
import { newFolder, usedFolder } from '../helpers/folders.ts';

const slow = { timeout: 240_000 };

/** A server that the service knows only by its address. */
async function createOutsideServer() {
  const dataDir = usedFolder();
  const server = await openEmbedded(dataDir, () => {}, 'create');
  afterFile(server.close);
  const { host, port } = server.connection as { host: string; port: number };
  const backups = newFolder();
  const urlAt = (socketDir: string) =>
    `postgresql://kopeck@localhost:${port}/kopeck?host=${encodeURIComponent(socketDir)}`;
  const runAt = (socketDir: string, ...args: string[]) =>
    kopeck({ DATA_DIR: dataDir, DATABASE_URL: urlAt(socketDir), BACKUP_DIR: backups }, ...args);
  return { host, backups, runAt };
}

test(
  'a server of your own on this machine is backed up; its files are checked, and it is restored by hand',
  slow,
  async () => {
    const { host, backups, runAt } = await createOutsideServer();
    const made = await runAt(host, 'backup', '--json');
    expect({ code: made.code, stderr: made.code === 0 ? '' : made.stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(made.stdout)).toMatchObject({ origin: 'outside' });
    const segment = '0000000100000000000000FE';
    const source = join(newFolder(), segment);
    fs.writeFileSync(source, 'what archive_command hands over');
    expect(await runAt(host, 'archive-wal', source, segment)).toMatchObject({ code: 0, stderr: '' });
    fs.rmSync(join(backups, 'wal', `${segment}.gz`));
    const verified = await runAt(host, 'backup', 'verify');
    expect(verified.code).toBe(0);
    expect(verified.stdout).toContain('Only the files were checked');
    expect((await runAt(host, 'restore')).stderr).toContain('kopeck restore is for the embedded PostgreSQL');
    const restored = await kopeck({ DATA_DIR: join(newFolder(), 'data') }, 'restore', '--from', backups);
    expect(restored).toMatchObject({ code: 1, stderr: expect.stringContaining('docs/operations/backup.md') });
  },
);
