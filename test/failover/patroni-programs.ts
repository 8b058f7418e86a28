import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const ops = join(import.meta.dirname, '..', '..', 'ops');
export const patroniFile = join(ops, 'patroni.yml');
export const haproxyFile = join(ops, 'haproxy.cfg');

/** The settings in `ops/etcd.env`. */
export const etcdSettings = () =>
  Object.fromEntries(
    readFileSync(join(ops, 'etcd.env'), 'utf8')
      .split('\n')
      .filter(line => /^\w+=/.test(line))
      .map(line => line.split(/=(.*)/, 2) as [string, string]),
  );

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
const find = (name: string) => folders.map(folder => join(folder, name)).find(path => existsSync(path));

/** Debian has each version of PostgreSQL in a folder of its own. */
function findPostgres(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).map(Number) : [];
  const newest = versions.filter(version => version >= 15).toSorted((a, b) => b - a)[0];
  return newest && existsSync(join(debian, `${newest}`, 'bin', 'initdb'))
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
export const programs = {
  etcd: found.etcd!,
  patroni: found.patroni!,
  haproxy: found.haproxy!,
  postgresFolder: found['PostgreSQL 15']!,
};

/**
 * Before 3.0.3, Patroni that finds its lease of etcd 3 expired overwrites the key of the leader: a primary that was frozen takes
 * it back from the one that replaced it. With the API of etcd 2 it compares first.
 */
export const etcdVariable = () =>
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
