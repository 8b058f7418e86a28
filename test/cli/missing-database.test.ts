import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { test as base, describe, expect } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { openEmbedded } from '../../src/db/embedded/server.ts';
import { openKeyring } from '../../src/db/secrets/secret-key.ts';
import { kopeck } from '../helpers/cli.ts';
import { createDatabase, type TestDatabase } from '../helpers/database.ts';
import { folderWithKey, newFolder, usedFolder } from '../helpers/folders.ts';
import { withoutWaiting } from '../helpers/waiting-line.ts';
import { allCommands, examplesOf } from './all-commands.ts';

const secretKey = 'a secret key for production, long enough';

async function refusal(env: Record<string, string>, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await kopeck(env, ...args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  return stderr;
}

const missingIn = (dataDir: string) =>
  `There is no Kopeck database in ${dataDir}: set DATA_DIR, or run \`kopeck start\` once. Nothing was written.\n`;
const test = base.extend('database', () => createDatabase());

describe('a command with a wrong DATA_DIR is refused and writes nothing', () => {
  test('in a folder of something else, even with a subfolder of that name', async () => {
    const dataDir = newFolder();
    writeFileSync(join(dataDir, 'notes.txt'), 'mine');
    mkdirSync(join(dataDir, 'postgres'));
    expect(await refusal({ DATA_DIR: dataDir }, 'partner', 'list')).toBe(missingIn(dataDir));
    expect(readdirSync(dataDir, { recursive: true }).sort()).toEqual(['notes.txt', 'postgres']);
  });

  test('with --json the refusal is an object for programs', async () => {
    const dataDir = join(newFolder(), 'data');
    const { error } = JSON.parse(await refusal({ DATA_DIR: dataDir }, 'partner', 'list', '--json'));
    expect(error).toEqual({ code: 'not_possible', message: missingIn(dataDir).trim() });
  });
});

describe('a command with a wrong DATABASE_URL is refused and writes nothing', () => {
  test('in an empty database', async () => {
    const { pool, url } = await createDatabase({ migrated: false });
    const dataDir = join(newFolder(), 'data');
    expect(await refusal({ DATABASE_URL: url, DATA_DIR: dataDir }, 'partner', 'list')).toMatch(
      /^There is no Kopeck database at \S+: set DATABASE_URL, or run `kopeck start` once\. Nothing was written\.\n$/,
    );
    const { rows } = await pool.query(
      "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace",
    );
    expect(rows).toEqual([]);
    expect(existsSync(dataDir)).toBe(false);
  });

  test("in another program's database", async () => {
    const { pool, url } = await createDatabase({ migrated: false });
    await pool.query('CREATE TABLE schema_migrations (version text)');
    expect(await refusal({ DATABASE_URL: url, DATA_DIR: folderWithKey() }, 'partner', 'list')).toContain(
      'There is no Kopeck database at',
    );
  });
});

describe('a command without the key of the installation is refused and makes none', () => {
  test('with DATABASE_URL and a folder that does not exist', async ({ database: { pool, url } }) => {
    const dataDir = join(newFolder(), 'data');
    const line = await refusal({ DATABASE_URL: url, DATA_DIR: dataDir }, 'partner', 'list');
    expect(line).toBe(
      `There is no ${dataDir}/secret.key: set DATA_DIR or SECRET_KEY as the service has them, or run \`kopeck start\` once.\n`,
    );
    expect(existsSync(dataDir)).toBe(false);
    expect((await pool.query('SELECT secret_key_fingerprint AS known FROM service')).rows).toEqual([
      { known: null },
    ]);
  });

  test.each([['demo', '--payments', '1'], ['reconcile']])(
    '%s makes no folder for the simulator',
    async (...args) => {
      const { url } = await createDatabase();
      const dataDir = join(newFolder(), 'data');
      const env = { DATABASE_URL: url, DATA_DIR: dataDir, SECRET_KEY: secretKey };
      expect(await refusal(env, ...args)).toContain(`There is no folder ${dataDir}: set DATA_DIR`);
      expect(existsSync(dataDir)).toBe(false);
    },
  );
});

describe('the key of a database', () => {
  const settingsOf = (dataDir: string) => readSettings({ DATA_DIR: dataDir });
  const openIn = (dataDir: string, { pool }: TestDatabase) =>
    openKeyring(settingsOf(dataDir), pool, 'create');

  test('that is missing stops the start, which writes nothing', async ({ database }) => {
    await openIn(newFolder(), database);
    const dataDir = join(newFolder(), 'data');
    await expect(openIn(dataDir, database)).rejects.toThrow(
      `There is no ${dataDir}/secret.key, and this database was first used with a key: put it back, or set SECRET_KEY to it. Nothing was written.`,
    );
    expect(existsSync(dataDir)).toBe(false);
  });

  test('is made by one of several first starts; the others write nothing', async ({ database }) => {
    const folders = Array.from({ length: 4 }, () => join(newFolder(), 'data'));
    const starts = await Promise.allSettled(folders.map(folder => openIn(folder, database)));
    expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(folders.filter(folder => existsSync(folder))).toHaveLength(1);
  });

  test('may be followed by earlier ones, a line each', async ({ database }) => {
    const dataDir = newFolder();
    const first = (await openIn(dataDir, database)).active().text;
    const file = join(dataDir, 'secret.key');
    const next = 'n'.repeat(64);
    writeFileSync(file, `${next}\n${first}`);
    const keyring = await openIn(dataDir, database);
    expect(keyring.keys.map(({ text }) => text)).toEqual([next, first]);
    expect(keyring.active().text).toBe(first);
    writeFileSync(file, next);
    await expect(openIn(dataDir, database)).rejects.toThrow(
      `The key in ${file} is not the one this database is used with: put that one back, or into the second line to replace it.`,
    );
    writeFileSync(file, `${first}\nshort`);
    await expect(openIn(dataDir, database)).rejects.toThrow(`${file} holds no key`);
  });

  test('is the same for several first starts in one folder', async ({ database }) => {
    const dataDir = newFolder();
    const keys = await Promise.all(Array.from({ length: 4 }, () => openIn(dataDir, database)));
    expect(new Set(keys.map(keyring => keyring.active().text)).size).toBe(1);
  });
});

test('after a first start that was killed before it made the database, a command is refused and stops the server', async () => {
  const dataDir = usedFolder();
  const server = await openEmbedded(dataDir, () => {}, 'refuse');
  const client = new pg.Client({ ...server.connection, database: 'postgres' });
  await client.connect();
  await client.query('DROP DATABASE kopeck');
  await client.end();
  await server.close();
  const refused = await refusal({ DATA_DIR: dataDir }, 'partner', 'list');
  expect(withoutWaiting(refused)).toBe(missingIn(dataDir));
  expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
});

/** Of all others it is expected that they open the database. A new command that does not is added here. */
const withoutDatabase = [
  // Makes one.
  'start',
  'restore',
  // Read or write backups only.
  'backup list',
  'backup verify',
  'archive-wal',
  'restore-wal',
  // Call a service over HTTP.
  'listen',
  'trigger',
  // Calls an adapter to a bank over HTTP.
  'gateway check',
  // Prints a text.
  'completion',
];
/** They print what they found, not one line. */
const reports = ['doctor', 'drill'];

const paths = allCommands.map(([path]) => path);
const ofDatabase = paths.filter(path => !withoutDatabase.includes(path));
test('the lists name commands that exist', () => {
  expect([...withoutDatabase, ...reports].filter(path => !paths.includes(path))).toEqual([]);
});

test.each(ofDatabase)(
  'in a folder without a database nothing is made, and it is said, by kopeck %s',
  async path => {
    for (const { args } of await examplesOf(path)) {
      const parent = newFolder();
      const dataDir = join(parent, 'not', 'there');
      const given = args
        .filter(word => word !== '--json')
        // The folders of examples do not exist on this machine.
        .map(word => (word === '/backups' ? join(parent, 'backups') : word));
      if (path === 'drill' && given.includes('--from')) continue;
      const { code, stdout, stderr } = await kopeck({ DATA_DIR: dataDir }, ...given);
      expect(code).toBe(1);
      expect(readdirSync(parent)).toEqual([]);
      if (reports.includes(path)) expect(stdout + stderr).toContain(missingIn(dataDir).trim());
      else expect({ stdout, stderr }).toEqual({ stdout: '', stderr: missingIn(dataDir) });
    }
  },
);
