import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../../src/base/settings.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { startService } from '../helpers/cli.ts';
import { isRunning, serverPid } from '../helpers/embedded-postgres.ts';
import { usedFolder } from '../helpers/folders.ts';
import { processEnv } from '../helpers/process-env.ts';

const openIn = (dataDir: string): Promise<Database> =>
  openDatabase(readSettings({ DATA_DIR: dataDir }), () => {}, 'create');

const countPartners = async ({ pool }: Database) =>
  (await pool.query('SELECT count(*)::int AS count FROM partners')).rows[0].count;

/** Waits for as long as the test may take. */
const ended = (pid: number) => expect.poll(() => isRunning(pid)).toBe(false);

/** Runs a process that opens the folder, adds a partner, and then does `end`. */
function runUser(dataDir: string, end: string) {
  const from = (file: string) => JSON.stringify(join(import.meta.dirname, '../../src', file));
  const program = `
    import { openDatabase } from ${from('db/database.ts')};
    import { readSettings } from ${from('base/settings.ts')};
    const { pool } = await openDatabase(readSettings(process.env), () => {}, 'create');
    await pool.query("INSERT INTO partners (id, name, created_at) VALUES (gen_random_uuid(), 'A', now())");
    ${end}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...processEnv, DATA_DIR: dataDir },
    stdio: 'inherit',
  });
}

test.each([
  ['ends without closing it', 'process.exit(1);', { status: 1 }],
  ['was killed with kill -9', "process.kill(process.pid, 'SIGKILL');", { signal: 'SIGKILL' }],
])('a server whose user %s stops, and has all that was committed', async (_how, end, ended) => {
  const dataDir = usedFolder();
  expect(runUser(dataDir, end)).toMatchObject(ended);
  const lockFile = join(dataDir, 'postgres', 'postmaster.pid');
  // A stop, not a crash: that would leave the file.
  await expect.poll(() => fs.existsSync(lockFile)).toBe(false);
  const database = await openIn(dataDir);
  onTestFinished(database.close);
  expect(await countPartners(database)).toBe(1);
});

test('a server goes on while somebody uses it, although the service that started it was killed', async () => {
  const dataDir = usedFolder();
  const service = await startService({ DATA_DIR: dataDir, ROLES: 'api' });
  const pid = serverPid(dataDir);
  const database = await openIn(dataDir);
  await service.stop('SIGKILL');
  const sessions = async () =>
    Number(
      (await database.pool.query("SELECT sessions FROM pg_stat_database WHERE datname = 'postgres'")).rows[0]
        .sessions,
    );
  const before = await sessions();
  // The guard has asked twice whether somebody uses it.
  await expect.poll(sessions).toBeGreaterThanOrEqual(before + 2);
  expect(isRunning(pid)).toBe(true);
  await database.close();
  await ended(pid);
});

test('a server stops with a service that was killed while it shut down', async () => {
  const dataDir = usedFolder();
  const service = await startService({ DATA_DIR: dataDir, ROLES: 'api', PROCESSES: '2', DRAIN_SEC: '300' });
  const pid = serverPid(dataDir);
  const stopping = service.stop('SIGTERM');
  const readiness = async () => (await fetch(`${service.address}/readyz`)).status;
  await expect.poll(readiness).toBe(503);
  process.kill(service.pid, 'SIGKILL');
  await stopping;
  await ended(pid);
});
