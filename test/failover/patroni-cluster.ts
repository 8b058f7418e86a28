import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { commandAs, identityFor } from '../../src/db/embedded/identity.ts';
import { type DatabaseServer, familyOf } from '../faults/database-server.ts';
import { answersOk, until } from '../faults/programs.ts';
import { isRunning } from '../helpers/embedded-postgres.ts';
import { freePort } from '../helpers/free-port.ts';

const ops = join(import.meta.dirname, '..', '..', 'ops');
const patroniFile = join(ops, 'patroni.yml');
const haproxyFile = join(ops, 'haproxy.cfg');

/** The settings in `ops/etcd.env`. */
const etcdSettings = () =>
  Object.fromEntries(
    fs
      .readFileSync(join(ops, 'etcd.env'), 'utf8')
      .split('\n')
      .filter(line => /^\w+=/.test(line))
      .map(line => line.split(/=(.*)/, 2) as [string, string]),
  );

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
const find = (name: string) => folders.map(folder => join(folder, name)).find(path => fs.existsSync(path));

/** Debian has each version of PostgreSQL in a folder of its own. */
function findPostgres(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = fs.existsSync(debian) ? fs.readdirSync(debian).map(Number) : [];
  const newest = versions.filter(version => version >= 15).toSorted((a, b) => b - a)[0];
  return newest && fs.existsSync(join(debian, `${newest}`, 'bin', 'initdb'))
    ? join(debian, `${newest}`, 'bin')
    : undefined;
}

const found = {
  etcd: find('etcd'),
  patroni: find('patroni'),
  haproxy: find('haproxy'),
  'PostgreSQL 15': findPostgres(),
};

export const missingPrograms = Object.entries(found).flatMap(([name, path]) => (path ? [] : [name]));

/** Only if none is missing. */
const programs = {
  etcd: found.etcd!,
  patroni: found.patroni!,
  haproxy: found.haproxy!,
  postgresFolder: found['PostgreSQL 15']!,
};

/**
 * Before 3.0.3, Patroni that finds its lease of etcd 3 expired overwrites the key of the leader: a primary that was frozen takes
 * it back from the one that replaced it. With the API of etcd 2 it compares first.
 */
const etcdVariable = () =>
  isOlder(versionOf(programs.patroni), [3, 0, 3]) ? 'PATRONI_ETCD_HOSTS' : 'PATRONI_ETCD3_HOSTS';

const versionOf = (program: string) =>
  /\d+(?:\.\d+)*/
    .exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))![0]
    .split('.')
    .map(Number);

function isOlder(version: number[], than: number[]): boolean {
  const differing = than.findIndex((number, index) => (version[index] ?? 0) !== number);
  return differing >= 0 && (version[differing] ?? 0) < than[differing]!;
}

/** Two PostgreSQL with Patroni, one etcd, and HAProxy in front, with the files in `ops/`. */
export interface PatroniCluster extends DatabaseServer {
  /** kill -9 of this part of the first primary. `freeze` stops all of it. */
  losePrimary(what: Part): Promise<void>;
}

/** PostgreSQL alone, or Patroni with it. */
type Part = 'server' | 'machine';

const newMember = async (name: string) => ({
  name,
  postgresPort: await freePort(),
  apiPort: await freePort(),
  patroni: undefined as ChildProcess | undefined,
});
type Member = Awaited<ReturnType<typeof newMember>>;

export async function createPatroniCluster(folder: string): Promise<PatroniCluster> {
  const home = join(folder, 'patroni');
  fs.mkdirSync(home, { mode: 0o700 });
  const runAs = identityFor(home, undefined);
  if (runAs) fs.chownSync(home, runAs.uid, runAs.gid);
  const log = fs.openSync(join(folder, 'patroni.log'), 'a');
  const port = await freePort();
  const [clientPort, peerPort] = [await freePort(), await freePort()];
  const password = randomBytes(16).toString('hex');
  const [a, b] = [await newMember('a'), await newMember('b')];
  const children: ChildProcess[] = [];

  function launch(command: string, args: string[], env: Record<string, string>): ChildProcess {
    const base = { PATH: process.env.PATH, HOME: home, LC_ALL: 'C.UTF-8', TZ: 'UTC' };
    const options = {
      cwd: home,
      env: { ...base, ...env },
      stdio: ['ignore', log, log] as ['ignore', number, number],
    };
    const child = spawn(...commandAs(runAs, command, args), options);
    children.push(child);
    return child;
  }

  const launchEtcd = () =>
    launch(programs.etcd, [], {
      ...etcdSettings(),
      // Debian builds it for arm64 too, and it wants that confirmed.
      ...(process.arch === 'arm64' ? { ETCD_UNSUPPORTED_ARCH: 'arm64' } : {}),
      ETCD_DATA_DIR: join(home, 'etcd'),
      ETCD_LISTEN_CLIENT_URLS: `http://127.0.0.1:${clientPort}`,
      ETCD_ADVERTISE_CLIENT_URLS: `http://127.0.0.1:${clientPort}`,
      ETCD_LISTEN_PEER_URLS: `http://127.0.0.1:${peerPort}`,
      ETCD_INITIAL_ADVERTISE_PEER_URLS: `http://127.0.0.1:${peerPort}`,
      ETCD_INITIAL_CLUSTER: `etcd-1=http://127.0.0.1:${peerPort}`,
    });

  function launchPatroni(member: Member): void {
    const { name, postgresPort, apiPort } = member;
    member.patroni = launch(programs.patroni, [patroniFile], {
      PATRONI_NAME: name,
      PATRONI_RESTAPI_LISTEN: `127.0.0.1:${apiPort}`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `127.0.0.1:${apiPort}`,
      PATRONI_POSTGRESQL_LISTEN: `127.0.0.1:${postgresPort}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `127.0.0.1:${postgresPort}`,
      PATRONI_POSTGRESQL_DATA_DIR: join(home, name),
      PATRONI_POSTGRESQL_PGPASS: join(home, `pgpass-${name}`),
      PATRONI_POSTGRESQL_BIN_DIR: programs.postgresFolder,
      [etcdVariable()]: `127.0.0.1:${clientPort}`,
      PATRONI_SUPERUSER_PASSWORD: password,
      PATRONI_REPLICATION_PASSWORD: password,
    });
  }

  const launchHaproxy = () =>
    launch(programs.haproxy, ['-db', '-f', haproxyFile], {
      KOPECK_DATABASE_LISTEN: `127.0.0.1:${port}`,
      KOPECK_POSTGRES_A: `127.0.0.1:${a.postgresPort}`,
      KOPECK_PATRONI_PORT_A: `${a.apiPort}`,
      KOPECK_POSTGRES_B: `127.0.0.1:${b.postgresPort}`,
      KOPECK_PATRONI_PORT_B: `${b.apiPort}`,
    });

  const says = (path: string, { apiPort }: Member) => answersOk(`http://127.0.0.1:${apiPort}${path}`);

  /** As the owner of a cluster would do it once. */
  async function createDatabase(): Promise<void> {
    const admin = new pg.Client({
      connectionString: `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`,
    });
    await admin.connect();
    await admin.query(`CREATE ROLE kopeck LOGIN PASSWORD '${password}'`);
    await admin.query('CREATE DATABASE kopeck OWNER kopeck');
    await admin.end();
  }

  /** Its Patroni first, which would start the server again. */
  function pidsOf({ name, patroni }: Member, what: Part): number[] {
    const file = join(home, name, 'postmaster.pid');
    const server = fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8').split('\n')[0]) : 0;
    return [
      ...(what === 'machine' && patroni ? [patroni.pid!] : []),
      ...(server > 0 && isRunning(server) ? familyOf(server) : []),
    ];
  }

  let frozen: number[] = [];
  return {
    port,
    urlAt: at => `postgresql://kopeck:${password}@127.0.0.1:${at}/kopeck`,
    start: async () => {
      launchEtcd();
      await until('etcd answers', () => answersOk(`http://127.0.0.1:${clientPort}/health`));
      launchPatroni(a);
      await until('there is a primary', () => says('/primary', a));
      launchPatroni(b);
      launchHaproxy();
      await until('there is a synchronous standby', () => says('/sync', b));
      await createDatabase();
    },
    losePrimary: what => killAll(pidsOf(a, what)),
    freeze: () => {
      frozen = pidsOf(a, 'machine');
      signalAll(frozen, 'SIGSTOP');
    },
    resume: () => signalAll(frozen, 'SIGCONT'),
    kill: async () => {
      for (const member of [a, b]) await killAll(pidsOf(member, 'machine'));
      await killAll(children.map(({ pid }) => pid!));
    },
  };
}

function signalAll(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) if (isRunning(pid)) process.kill(pid, signal);
}

async function killAll(pids: number[]): Promise<void> {
  signalAll(pids, 'SIGKILL');
  await until('all of it is gone', () => !pids.some(isRunning));
}
