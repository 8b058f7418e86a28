import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { openDatabase } from '../../src/db/database.ts';
import { kopeck } from '../helpers/cli.ts';
import { newFolder } from '../helpers/folders.ts';
import { processEnv } from '../helpers/process-env.ts';
import { createBackupWorld, inspect, restoreInto } from './backup-world.ts';

const world = await createBackupWorld();
const { backups, dataDir } = world;
const passphrase = 'correct horse battery staple';

/** Runs the command as a process and kills it as soon as `isHalfWay`; again, if it was faster than this and is undone. */
async function killHalfWay(
  env: Record<string, string>,
  command: string,
  { isHalfWay, undo }: { isHalfWay(): boolean; undo(): void },
): Promise<void> {
  const program = join(import.meta.dirname, '../../src/cli/main.js');
  for (let tries = 1; ; tries++) {
    const child = spawn(process.execPath, [program, command], { env: { ...processEnv, ...env } });
    const ended = new Promise<NodeJS.Signals | number | null>(resolve =>
      child.once('close', (code, signal) => resolve(signal ?? code)),
    );
    await vi.waitUntil(() => isHalfWay() || child.exitCode !== null, { timeout: 60_000, interval: 2 });
    child.kill('SIGKILL');
    const how = await ended;
    const isWhole = !isHalfWay() && [0, 'SIGKILL'].includes(how!);
    if (!isWhole || tries === 5) return expect(how, `after ${tries} tries`).toBe('SIGKILL');
    undo();
  }
}

const namesIn = (folder: string) => (fs.existsSync(folder) ? fs.readdirSync(folder) : []);

test('a backup that was killed half way is not listed, not restored, and removed by the next one', async () => {
  const base = join(backups, 'base');
  const hasFiles = () =>
    namesIn(base).some(
      name => name.startsWith('unfinished-') && namesIn(join(base, name, 'data')).length > 0,
    );
  await killHalfWay({ DATA_DIR: dataDir, BACKUP_DIR: backups }, 'backup', {
    isHalfWay: hasFiles,
    undo: () => fs.rmSync(base, { recursive: true, force: true }),
  });
  expect(namesIn(base)).toEqual([expect.stringMatching(/^unfinished-/)]);
  expect((await world.run('backup', 'list')).stdout).toBe('(none)\n');
  const { code, stderr } = await restoreInto(backups, {});
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `There is no complete backup in ${backups}: see kopeck backup list.\n`,
  });
  const { id } = await world.json('backup');
  expect(namesIn(base)).toEqual([id]);
  expect(await world.json('backup', 'list')).toMatchObject({
    backups: [{ id, timeline: 1, has_secret_key: false }],
  });
});

test('a restore that was killed half way is neither started nor replaced by a new database', async () => {
  const target = join(newFolder(), 'data');
  const unfinished = join(target, 'restore.unfinished');
  const env = { DATA_DIR: target, BACKUP_DIR: backups };
  await killHalfWay(env, 'restore', {
    isHalfWay: () => namesIn(join(unfinished, 'postgres')).length > 0,
    undo: () => fs.rmSync(target, { recursive: true, force: true }),
  });
  const refusal = `A restore into ${target} has not finished (${unfinished}): wait until it finishes. If it was interrupted, empty ${target} and run kopeck restore again.`;
  await expect(openDatabase(readSettings(env), () => {}, 'create')).rejects.toThrow(refusal);
  expect(namesIn(target)).toEqual(['restore.unfinished']);
  expect((await kopeck(env, 'ledger', 'verify')).stderr).toBe(`${refusal}\n`);
  expect((await kopeck(env, 'restore')).stderr).toContain(`${target} is not empty`);
});

test('--keep removes the oldest backups and only the WAL that no kept backup needs', async () => {
  const [{ id: oldest }] = (await world.json('backup', 'list')).backups;
  await world.pay();
  await world.archiveAll();
  const second = await world.json('backup');
  await world.pay();
  await world.archiveAll();
  const third = await world.json('backup', '--keep', '2');
  expect(third.removed).toEqual([oldest]);
  expect(third.removed_wal).toBeGreaterThan(0);
  const { backups: kept } = await world.json('backup', 'list');
  expect(kept.map(({ id }: { id: string }) => id)).toEqual([second.id, third.id]);
  const archived = namesIn(join(backups, 'wal'));
  expect(archived.filter(name => name < second.first_wal)).toEqual([]);
  expect(archived.some(name => name > second.last_wal && name < third.first_wal)).toBe(true);
});

test('the secret key is in the backup only on request, and only the passphrase opens it', async () => {
  const KOPECK_BACKUP_PASSPHRASE = passphrase;
  const withPassphrase = { DATA_DIR: dataDir, BACKUP_DIR: backups, KOPECK_BACKUP_PASSPHRASE };
  const { id } = JSON.parse((await kopeck(withPassphrase, 'backup --with-secret-key --json')).stdout);
  const key = fs.readFileSync(join(dataDir, 'secret.key'), 'utf8');
  const sealed = fs.readFileSync(join(backups, 'base', id, 'secret-key.json'), 'utf8');
  expect(sealed).not.toContain(key.slice(0, 8));

  const restore = (env: Record<string, string>) => restoreInto(backups, env, '--with-secret-key');
  const wrong = await restore({ KOPECK_BACKUP_PASSPHRASE: `${passphrase}!` });
  expect({ code: wrong.code, stderr: wrong.stderr, isWritten: fs.existsSync(wrong.dataDir) }).toEqual({
    code: 1,
    stderr: 'The passphrase is not the one that this backup was made with.\n',
    isWritten: false,
  });
  const none = await restore({});
  expect(none.stderr).toMatch(/^Set KOPECK_BACKUP_PASSPHRASE/);
  const right = await restore({ KOPECK_BACKUP_PASSPHRASE });
  expect(right.code).toBe(0);
  expect(fs.readFileSync(join(right.dataDir, 'secret.key'), 'utf8')).toBe(key);
  expect((await inspect(right.dataDir)).findings).toEqual([]);
});

test('a short passphrase and a missing folder are refused in one line', async () => {
  const env = { DATA_DIR: dataDir, KOPECK_BACKUP_PASSPHRASE: 'short' };
  const short = await kopeck(env, 'backup --with-secret-key --to', backups);
  expect(short).toMatchObject({ code: 1, stderr: 'The passphrase must have at least 12 characters.\n' });
  expect(await kopeck({ DATA_DIR: dataDir }, 'backup')).toMatchObject({
    code: 1,
    stderr: 'Set the backup folder with --to DIR or BACKUP_DIR.\n',
  });
});

test('a drill without a database or a backup is one line', async () => {
  const { code, stdout } = await kopeck({}, 'drill', '--from', join(newFolder(), 'none'));
  expect(code).toBe(1);
  expect(stdout).toContain('There is no complete backup');
});

test('drill backs up, restores, verifies and opens in a scratch folder, and measures each step', async () => {
  await world.pay();
  // Of its own: other tests rehearse at the same time. PostgreSQL, which may run as another user, must reach it.
  const scratch = newFolder();
  fs.chmodSync(scratch, 0o755);
  vi.stubEnv('TMPDIR', scratch);
  const kept = namesIn(join(backups, 'base'));
  const { ok, steps, total_ms } = await world.json('drill');
  expect(ok).toBe(true);
  const names = steps.map(({ name }: { name: string }) => name);
  expect(names).toEqual(['backup', 'check', 'restore', 'start', 'verify', 'open']);
  expect(steps.at(-2).result).toMatch(/^\d+ entries, \d+ invariants hold$/);
  expect(steps.at(-1).result).toContain('payments are accepted');
  expect(total_ms).toBeGreaterThan(0);
  expect(fs.readdirSync(scratch)).toEqual([]);
  expect(namesIn(join(backups, 'base'))).toEqual(kept);
});

test('backup verify names what is wrong and exits with 1', async () => {
  const { id } = await world.json('backup');
  const file = join(backups, 'base', id, 'data', 'PG_VERSION');
  fs.appendFileSync(file, '!');
  const bad = await world.run('backup', 'verify', id);
  expect(bad.code).toBe(1);
  expect(bad.stdout).toContain('data/PG_VERSION is damaged');
  expect((await world.run('backup', 'verify', '20200101-000000-0000')).stdout).toContain(
    'There is no complete backup',
  );
});

test('backup verify finds broken books', async () => {
  await world.pool.query('ALTER TABLE accounts DISABLE TRIGGER ALL');
  await world.pool.query(
    `UPDATE accounts SET available = available + 1, topup = topup - 1 WHERE ctid = (SELECT min(ctid) FROM accounts)`,
  );
  await world.json('backup');
  const { code, stdout } = await world.run('backup', 'verify', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout).steps.at(-1)).toMatchObject({
    name: 'verify',
    ok: false,
    result: expect.stringContaining('entries add up to the balances'),
  });
});

/** The last one: by its address the server is another place, so the history of the world ends. */
test('a server of your own on this machine is backed up without the secret key; its files are checked, and it is restored by hand', async () => {
  const { host, port } = world.pool.options as { host: string; port: number };
  const url = `postgresql://kopeck@localhost:${port}/kopeck?host=${encodeURIComponent(host)}`;
  const [own, withoutKey] = [newFolder(), newFolder()];
  const run = (...args: string[]) =>
    kopeck({ DATA_DIR: withoutKey, DATABASE_URL: url, BACKUP_DIR: own }, ...args);
  const made = await run('backup', '--json');
  expect({ code: made.code, stderr: made.code === 0 ? '' : made.stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(made.stdout)).toMatchObject({ origin: 'outside' });
  const withKey = await run('backup', '--with-secret-key');
  expect(withKey).toMatchObject({ code: 1, stderr: expect.stringMatching(/^There is no \S+secret\.key: /) });
  const segment = '0000000100000000000000FE';
  const source = join(newFolder(), segment);
  fs.writeFileSync(source, 'what archive_command hands over');
  expect(await run('archive-wal', source, segment)).toMatchObject({ code: 0, stderr: '' });
  fs.rmSync(join(own, 'wal', `${segment}.gz`));
  const verified = await run('backup', 'verify');
  expect(verified.code).toBe(0);
  expect(verified.stdout).toContain('Only the files were checked');
  expect((await run('restore')).stderr).toContain('kopeck restore is for the embedded PostgreSQL');
  const restored = await kopeck({ DATA_DIR: join(newFolder(), 'data') }, 'restore', '--from', own);
  expect(restored).toMatchObject({ code: 1, stderr: expect.stringContaining('docs/operations/backup.md') });
});
