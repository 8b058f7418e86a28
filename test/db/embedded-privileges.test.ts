import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { openEmbedded } from '../../src/db/embedded/server.ts';
import { childrenOf } from '../helpers/children.ts';
import { startService } from '../helpers/cli.ts';
import { serverPid } from '../helpers/embedded-postgres.ts';
import { newFolder, usedFolder } from '../helpers/folders.ts';

const isRootOnLinux = process.getuid!() === 0 && process.platform === 'linux';

/** Otherwise the server keeps the right to read, or it would not find its own programs. */
const mayOthersEnter = (path: string): boolean =>
  (fs.statSync(path).mode & 0o001) !== 0 && (path === dirname(path) || mayOthersEnter(dirname(path)));
const isOpen = mayOthersEnter(import.meta.dirname);
if (isRootOnLinux && !isOpen)
  console.warn('\n!!! Only root may enter this checkout: tests of a server without any right are SKIPPED.\n');

async function openIn(dataDir: string): Promise<Database> {
  const database = await openDatabase(readSettings({ DATA_DIR: dataDir }), () => {}, 'create');
  onTestFinished(database.close);
  return database;
}

/** What the server and each of its processes may do, as the kernel shows it. */
function privilegesOf(pid: number): Record<string, string>[] {
  const lines = ['Uid', 'Groups', 'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs'];
  return [pid, ...childrenOf(pid)].map(each => {
    const status = fs.readFileSync(`/proc/${each}/status`, 'utf8');
    const read = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(status)![1]!.trim();
    return Object.fromEntries(lines.map(name => [name, read(name)]));
  });
}

const none = '0000000000000000';
const nothing = { Groups: '', CapInh: none, CapPrm: none, CapEff: none, CapAmb: none };

/** A file that only root may read. */
function rootsFile(): string {
  const file = join(newFolder(), 'secret');
  fs.writeFileSync(file, 'of root', { mode: 0o600 });
  fs.chmodSync(join(file, '..'), 0o755);
  return file;
}

const readFile = ({ pool }: Database, file: string) =>
  pool.query({ text: 'SELECT pg_read_file($1)', values: [file] });

describe.runIf(isRootOnLinux)('an embedded PostgreSQL that root starts', () => {
  test.runIf(isOpen)('has no privileges, no groups, and reads no file of root', async () => {
    const dataDir = usedFolder();
    const database = await openIn(dataDir);
    const all = privilegesOf(serverPid(dataDir));
    expect(all.length).toBeGreaterThan(3);
    for (const each of all) {
      expect(each).toMatchObject({ ...nothing, CapBnd: none, NoNewPrivs: '1' });
      expect(each.Uid).not.toMatch(/\b0\b/);
    }
    await expect(readFile(database, rootsFile())).rejects.toThrow('Permission denied');
  });

  test.runIf(isOpen)(
    'is created in a new folder of root in the same way, and nobody else may list that folder',
    async () => {
      const folder = newFolder();
      // As /var/lib is, others may enter it.
      fs.chmodSync(folder, 0o755);
      const dataDir = join(folder, 'data');
      const { close } = await openEmbedded(dataDir, () => {}, 'create');
      onTestFinished(close);
      expect(privilegesOf(serverPid(dataDir))[0]).toMatchObject({ ...nothing, CapBnd: none });
      expect(fs.statSync(dataDir).mode & 0o777).toBe(0o710);
      expect(fs.statSync(join(dataDir, 'postgres')).mode & 0o777).toBe(0o700);
    },
  );

  test('has none without setpriv either', async () => {
    const programs = newFolder();
    for (const name of ['sh', 'node']) {
      const found = process.env.PATH!.split(':').map(dir => join(dir, name));
      fs.symlinkSync(found.find(path => fs.existsSync(path))!, join(programs, name));
    }
    const dataDir = usedFolder();
    const env = { DATA_DIR: dataDir, PATH: programs, ROLES: 'api' };
    const service = await startService(env);
    onTestFinished(async () => void (await service.stop()));
    for (const each of privilegesOf(serverPid(dataDir))) expect(each).toMatchObject(nothing);
  });

  test('keeps no more than the right to read where only root may enter', async () => {
    const closed = newFolder();
    fs.chmodSync(closed, 0o700);
    const dataDir = join(closed, 'data');
    const database = await openIn(dataDir);
    expect((await database.pool.query('SELECT FROM partners')).rowCount).toBe(0);
    expect(fs.statSync(closed).mode & 0o777).toBe(0o700);
    const [server] = privilegesOf(serverPid(dataDir));
    expect(server).toMatchObject({ Groups: '', NoNewPrivs: '1' });
    const held = BigInt(`0x${server!.CapEff}`);
    expect(held.toString(2).replaceAll('0', '')).toBe('1');
    expect(server!.CapBnd).toBe(server!.CapEff);
  });
});
