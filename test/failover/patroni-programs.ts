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
