import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { readSettings } from '../../src/base/settings.ts';
import { openDatabase } from '../../src/db/database.ts';
import { commandAs, identityFor } from '../../src/db/embedded/identity.ts';
import { listen } from '../../src/db/postgres/listen.ts';
import { openPool } from '../../src/db/postgres/pool.ts';
import { startHeartbeat } from '../../src/db/processes/heartbeat.ts';
import { sharedDatabase } from '../helpers/database.ts';
import { openDatabaseHost } from '../helpers/database-host.ts';
import { newFolder } from '../helpers/folders.ts';
import { freePort } from '../helpers/free-port.ts';

const binary = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(fs.existsSync);

const isPgBouncerInstalled = binary !== undefined && spawnSync(binary, ['--version']).status === 0;

if (!isPgBouncerInstalled)
  console.warn('\n!!! PgBouncer is not installed: its tests are SKIPPED. Run .ci/run to install it.\n');

/** PgBouncer with its defaults in front of a test database, until the end of the test; returns its address. */
async function startPgBouncer(database: string, poolMode: string): Promise<string> {
  const { user } = inject('connection');
  // Not the socket: the server accepts its own user and root there, and PgBouncer may run as neither.
  const server = await openDatabaseHost(database);
  const dir = newFolder();
  const port = await freePort();
  const config = join(dir, 'pgbouncer.ini');
  const users = join(dir, 'users.txt');
  fs.writeFileSync(users, `"${user}" ""\n`);
  fs.writeFileSync(
    config,
    `[databases]
${database} = host=127.0.0.1 port=${server.port} user=${user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${poolMode}
`,
  );
  // Like PostgreSQL it refuses to run as root.
  const runAs = identityFor(dir, undefined);
  if (runAs) for (const path of [dir, config, users]) fs.chownSync(path, runAs.uid, runAs.gid);
  const child: ChildProcess = spawn(...commandAs(runAs, binary!, [config]), { stdio: 'ignore' });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  while (!(await accepts(port)));
  return `postgresql://${user}@127.0.0.1:${port}/${database}`;
}

const accepts = (port: number) =>
  new Promise<boolean>(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('connect', () => socket.destroy());
    socket.on('error', () => setTimeout(resolve, 50, false));
  });

const open = (url: string) => openDatabase(readSettings({ DATABASE_URL: url }), () => {}, 'refuse');

describe.runIf(isPgBouncerInstalled)('through PgBouncer', async () => {
  if (!isPgBouncerInstalled) return;
  const { pool: direct } = await sharedDatabase();
  const name = direct.options.database!;

  test('in session mode every session has its time-outs and settings, also a server session used before', async () => {
    const url = await startPgBouncer(name, 'session');
    const shown = async () => {
      const pool = openPool({ connectionString: url, statement_timeout: 4_000 }, 1);
      const { rows } = await pool.query(
        `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
                current_setting('TimeZone') AS zone, pg_backend_pid() AS session`,
      );
      await pool.end();
      return rows[0];
    };
    const expected = { statement: '4s', lock: '3s', zone: 'UTC' };
    const first = await shown();
    expect(first).toMatchObject(expected);
    expect(await shown()).toEqual(first);
  });

  test('in session mode locks and messages of a session work', async () => {
    const { pool, close } = await open(await startPgBouncer(name, 'session'));
    const heartbeat = await startHeartbeat({ pool, clock: systemClock });
    let messages = 0;
    const listener = listen({ pool, clock: systemClock }, 'news', () => {
      messages += 1;
    });
    onTestFinished(async () => {
      await Promise.all([listener.close(), heartbeat.close()]);
      await close();
    });
    await expect.poll(listener.isListening).toBe(true);
    const before = messages;
    await direct.query('NOTIFY news');
    await expect.poll(() => messages).toBe(before + 1);
    expect(await heartbeat.findDead([heartbeat.instance])).toEqual([]);
  });

  test.each(['transaction', 'statement'])('%s mode is refused in one line that names the fix', async mode => {
    const url = await startPgBouncer(name, mode);
    await expect(open(url)).rejects.toThrow(
      /^DATABASE_URL leads through a connection pooler in transaction mode[^\n]*pool_mode = session/,
    );
  });
});
