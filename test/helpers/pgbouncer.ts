import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { commandAs, identityFor } from '../../src/db/embedded/identity.ts';
import { openDatabaseHost } from './database-host.ts';
import { newFolder } from './folders.ts';
import { freePort } from './free-port.ts';

const binary = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer'].find(fs.existsSync);

export const isPgBouncerInstalled = binary !== undefined && spawnSync(binary, ['--version']).status === 0;

if (!isPgBouncerInstalled)
  console.warn('\n!!! PgBouncer is not installed: its tests are SKIPPED. Run .ci/run to install it.\n');

/** PgBouncer with its defaults in front of a test database, until the end of the test; returns its address. */
export async function startPgBouncer(database: string, poolMode: string): Promise<string> {
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
