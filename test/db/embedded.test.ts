import { spawn, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, test as base, describe, expect, onTestFinished } from 'vitest';
import { OperatorError } from '../../src/base/operator-error.ts';
import { readSettings } from '../../src/base/settings.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { binariesIn, findBinaries } from '../../src/db/embedded/binaries.ts';
import { openCluster } from '../../src/db/embedded/cluster.ts';
import { isRunning, serverPid } from '../helpers/embedded-postgres.ts';
import { newFolder, usedFolder } from '../helpers/folders.ts';
import { withoutWaiting } from '../helpers/waiting-line.ts';

const root = process.getuid!() === 0;

const open: Database[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map(database => database.close()));
});

async function openIn(dataDir: string, said: string[] = []): Promise<Database> {
  const database = await openDatabase(readSettings({ DATA_DIR: dataDir }), line => said.push(line), 'create');
  open.push(database);
  return database;
}

async function close(database: Database): Promise<void> {
  open.splice(open.indexOf(database), 1);
  await database.close();
}

const countPartners = async ({ pool }: Database) =>
  (await pool.query('SELECT count(*)::int AS count FROM partners')).rows[0].count;
const test = base.extend('dataDir', () => usedFolder());

describe('an embedded PostgreSQL', () => {
  test('is created in an empty folder, prints so, is PostgreSQL 18 with full durability, and stops with its last user', async () => {
    const dataDir = join(newFolder(), 'not', 'there', 'yet');
    const said: string[] = [];
    const database = await openIn(dataDir, said);
    expect(withoutWaiting(said.map(line => `${line}\n`).join(''))).toBe(
      `Creating a PostgreSQL database in ${dataDir}/postgres …\n`,
    );
    const settings = ['data_checksums', 'fsync', 'full_page_writes', 'synchronous_commit'];
    const { rows } = await database.pool.query(
      `SELECT current_setting('server_version_num')::int / 10000 AS major,
              (SELECT array_agg(current_setting(name)) FROM unnest($1::text[]) AS name) AS durability`,
      [settings],
    );
    expect(rows[0]).toEqual({ major: 18, durability: settings.map(() => 'on') });
    const pid = serverPid(dataDir);
    await close(database);
    expect(isRunning(pid)).toBe(false);
    expect(fs.existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
  });

  test('is shared by all that open the same folder, and stops only with the last of them', async () => {
    const dataDir = usedFolder();
    const [first, second, third] = await Promise.all([openIn(dataDir), openIn(dataDir), openIn(dataDir)]);
    const pid = serverPid(dataDir);
    await Promise.all([close(first!), close(second!)]);
    expect(await countPartners(third!)).toBe(0);
    expect(isRunning(pid)).toBe(true);
    await close(third!);
    expect(isRunning(pid)).toBe(false);
  });

  test('opened and closed by many at once is never stopped while one uses it', async ({ dataDir }) => {
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        for (let turn = 0; turn < 3; turn++) {
          const database = await openIn(dataDir);
          expect(await countPartners(database)).toBe(0);
          await close(database);
        }
      }),
    );
  });

  test('that was killed with kill -9 is started again with what was committed, while its users go on', async () => {
    const dataDir = usedFolder();
    const database = await openIn(dataDir);
    await database.pool.query(
      "INSERT INTO partners (id, name, created_at) VALUES (gen_random_uuid(), 'A', now())",
    );
    const pid = serverPid(dataDir);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => serverPid(dataDir)).not.toBe(pid);
    await expect.poll(() => countPartners(database).catch(() => 'not yet')).toBe(1);
  });

  test('starts over a stale lock file whose process number now belongs to another program', async () => {
    const dataDir = usedFolder();
    await close(await openIn(dataDir));
    const cluster = join(dataDir, 'postgres');
    const { uid, gid } = fs.statSync(cluster);
    const somebodyElse = spawn('sleep', ['60'], root ? { uid, gid } : {});
    onTestFinished(() => void somebodyElse.kill());
    const stale = `${somebodyElse.pid}\n${cluster}\n1700000000\n5432\n${cluster}\n\n  1234567         1\nready\n`;
    fs.writeFileSync(join(cluster, 'postmaster.pid'), stale);
    expect(await countPartners(await openIn(dataDir))).toBe(0);
    expect(serverPid(dataDir)).not.toBe(somebodyElse.pid);
  });

  test('works in a folder whose path is too long for a socket', async () => {
    const dataDir = join(newFolder(), 'д'.repeat(60), 'x'.repeat(60));
    fs.mkdirSync(dataDir, { recursive: true, mode: 0o710 });
    const database = await openIn(usedFolder(dataDir));
    expect(await countPartners(database)).toBe(0);
    process.kill(serverPid(dataDir), 'SIGKILL');
    await expect.poll(() => countPartners(database).catch(() => 'not yet')).toBe(0);
  });

  test('is created in a folder with an odd name, reached through a link, beside the remains of a creation that was killed', async () => {
    const folder = newFolder();
    const odd = join(folder, `it's, "odd" = $HOME \\ ;#`);
    fs.mkdirSync(join(odd, 'postgres.new-999999999-abcd', 'base'), { recursive: true });
    fs.symlinkSync(odd, join(folder, 'link'));
    await openIn(join(folder, 'link'));
    expect(await countPartners(await openIn(odd))).toBe(0);
    expect(fs.readdirSync(odd).sort()).toEqual(['postgres', 'postgres.log']);
  });

  test('whose settings give up durability is refused', async ({ dataDir }) => {
    const database = await openIn(dataDir);
    for (const name of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      await database.pool.query(`ALTER SYSTEM SET ${name} = off`);
      await database.pool.query('SELECT pg_reload_conf()');
      const refusal = `The database runs with ${name} = off`;
      await expect.poll(() => openIn(dataDir).then(close, error => error.message)).toContain(refusal);
      await database.pool.query(`ALTER SYSTEM RESET ${name}`);
    }
  });

  const expectOneLine = async (attempt: Promise<Database>, line: RegExp) => {
    await expect(attempt).rejects.toThrow(OperatorError);
    await expect(attempt).rejects.toThrow(line);
  };

  test('in a folder that cannot be written to is one clear line', async () => {
    const file = join(newFolder(), 'a-file');
    fs.writeFileSync(file, '');
    await expectOneLine(openIn(join(file, 'data')), /^DATA_DIR cannot be used [^\n]*$/);
  });

  test('whose files are of another version is one clear line', async ({ dataDir }) => {
    await close(await openIn(dataDir));
    fs.writeFileSync(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
    await expectOneLine(openIn(dataDir), /^PostgreSQL did not start in [^\n]*$/);
  });
});

describe.runIf(root)('as root', () => {
  test('it works with its programs below a folder that only root may enter', () => {
    const closed = newFolder();
    fs.chmodSync(closed, 0o700);
    const installed = dirname(dirname(dirname(findBinaries().postgres)));
    fs.cpSync(installed, join(closed, 'postgres'), { recursive: true, verbatimSymlinks: true });
    const binaries = binariesIn(join(closed, 'postgres'));
    const cluster = openCluster(join(closed, 'data'), binaries, () => {}, 'create');
    expect(fs.existsSync(join(cluster.dir, 'PG_VERSION'))).toBe(true);
  });

  test('nobody else may connect, not even as the user that the server runs as', async ({ dataDir }) => {
    await openIn(dataDir);
    const admitted = fs.readFileSync(join(dataDir, 'postgres', 'pg_ident.conf'), 'utf8');
    expect(admitted).toBe('owner "root" kopeck\n');
  });

  test('it works in the folder of another user, and that user can use it afterwards', async ({ dataDir }) => {
    const someUser = 12_345;
    spawnSync('chown', ['-R', `${someUser}:${someUser}`, dataDir]);
    expect(await countPartners(await openIn(dataDir))).toBe(0);
    expect(fs.statSync(join(dataDir, 'postgres', 'postmaster.pid')).uid).toBe(someUser);
  });

  test('a full disk is one clear line, and nothing is left half made', async ({ skip }) => {
    const disk = newFolder();
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'none', disk]).status === 0;
    if (!mounted) skip('this machine lets nobody mount a small disk');
    try {
      const attempt = openIn(join(disk, 'data'));
      await expect(attempt).rejects.toThrow(
        /^PostgreSQL could not make its files in [^\n]*: the disk is full\./,
      );
      expect(fs.readdirSync(join(disk, 'data'))).toEqual([]);
    } finally {
      spawnSync('umount', [disk]);
    }
  });
});
