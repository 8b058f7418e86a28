import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { findBinaries } from '../../src/db/embedded/binaries.ts';
import { commandAs, type Identity, identityFor } from '../../src/db/embedded/identity.ts';
import { childrenOf } from '../helpers/children.ts';
import { isRunning } from '../helpers/embedded-postgres.ts';
import { freePort } from '../helpers/free-port.ts';
import { until } from './programs.ts';

/** An external PostgreSQL on TCP that can be killed and frozen. */
export interface DatabaseServer {
  port: number;
  /** Its address, or that of a proxy in front of it. */
  urlAt(port: number): string;
  start(): Promise<void>;
  /** kill -9 of the server with all its child processes: no connection is closed properly. */
  kill(): Promise<void>;
  freeze(): void;
  resume(): void;
}

export interface LocalServer extends DatabaseServer {
  /** A server on a copy of its files. This one must not be running. */
  createCopy(): Promise<DatabaseServer>;
  /** The same, and it follows this one. */
  createStandby(): Promise<LocalServer>;
}

const environment = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };

/** Settings are those besides what all servers have; a password is one that it shares with others. */
export async function createDatabaseServer(
  folder: string,
  // Other users of this machine can reach the port.
  { settings = [] as string[], password = newPassword() } = {},
): Promise<LocalServer> {
  const { initdb, postgres } = findBinaries();
  const dir = join(folder, 'postgres');
  fs.mkdirSync(dir, { mode: 0o700 });
  const runAs = identityFor(dir, undefined);
  if (runAs) fs.chownSync(dir, runAs.uid, runAs.gid);
  const passwordFile = join(folder, 'password');
  fs.writeFileSync(passwordFile, password, { mode: 0o600 });
  if (runAs) fs.chownSync(passwordFile, runAs.uid, runAs.gid);
  const args = ['-D', dir, '-U', 'kopeck', '--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--no-sync'];
  const made = spawnSync(...commandAs(runAs, initdb, args), { env: environment, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  return serverIn({ dir, password, runAs, postgres, settings });
}

export const newPassword = () => randomBytes(16).toString('hex');

interface Installation {
  dir: string;
  password: string;
  runAs: Identity | undefined;
  postgres: string;
  settings: string[];
}

async function serverIn(installation: Installation): Promise<LocalServer> {
  const { dir, password, runAs, postgres } = installation;
  const port = await freePort();
  const urlAt = (at: number) => `postgresql://kopeck:${password}@127.0.0.1:${at}/postgres`;
  const ownSettings = ['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=`, 'jit=off'];
  const settings = [...ownSettings, ...installation.settings];
  // With which a server reaches others, if it has the same password as they.
  const env = { ...environment, PGPASSWORD: password };
  const log = fs.openSync(`${dir}.log`, 'a');
  let server: ChildProcess | undefined;

  const launch = () => {
    const options = ['-D', dir, ...settings.flatMap(setting => ['-c', setting])];
    server = spawn(...commandAs(runAs, postgres, options), { env, stdio: ['ignore', log, log] });
  };
  const hasEnded = () => !server || server.exitCode !== null || server.signalCode !== null;
  const signalAll = (signal: NodeJS.Signals): number[] => {
    const family = familyOf(server!.pid!);
    for (const pid of family) sendSignal(pid, signal);
    return family;
  };

  return {
    port,
    urlAt,
    start: async () => {
      launch();
      await until('PostgreSQL answers', async () => {
        // The port may still be in use by the server before it.
        if (hasEnded()) launch();
        return answers(urlAt(port));
      });
    },
    kill: async () => {
      if (hasEnded()) return;
      const gone = once(server!, 'exit');
      const family = signalAll('SIGKILL');
      await gone;
      await until('all of PostgreSQL is gone', () => !family.some(isRunning));
    },
    freeze: () => void signalAll('SIGSTOP'),
    resume: () => void signalAll('SIGCONT'),
    createCopy: () => serverIn({ ...installation, dir: copyFiles(dir, `${dir}-copy`) }),
    createStandby: () => {
      const copy = copyFiles(dir, `${dir}-standby`);
      const source = `host=127.0.0.1 port=${port} user=kopeck password=${password}`;
      fs.appendFileSync(join(copy, 'postgresql.conf'), `primary_conninfo = '${source}'\n`);
      fs.writeFileSync(join(copy, 'standby.signal'), '');
      return serverIn({ ...installation, dir: copy });
    },
  };
}

function copyFiles(dir: string, copy: string): string {
  execFileSync('cp', ['-a', dir, copy]);
  // Of a server that was killed; another one may have its number by now.
  fs.rmSync(join(copy, 'postmaster.pid'), { force: true });
  return copy;
}

/** A server and its child processes. It is stopped first, so that it starts no more of them. */
export function familyOf(server: number): number[] {
  process.kill(server, 'SIGSTOP');
  return [...childrenOf(server), server];
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // A child process that has just ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  return client.connect().then(
    () => client.end().then(() => true),
    () => false,
  );
}
