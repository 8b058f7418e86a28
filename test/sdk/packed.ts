import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { newFolder } from '../helpers/folders.ts';

export const root = resolve(import.meta.dirname, '../..');

export function run(command: string, args: string[], cwd: string): void {
  const path = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter);
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, PATH: path },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
}

/** The tarball as it would be published; from a copy, since other tests may pack at the same time. */
export function pack(): string {
  const folder = newFolder();
  for (const name of ['tsconfig.json', 'sdk'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  run('npm', ['pack', '--pack-destination', folder], join(folder, 'sdk'));
  return join(folder, readdirSync(folder).find(name => name.endsWith('.tgz'))!);
}

/** An empty project with nothing but the library, installed without a network. */
export function install(tarball: string): string {
  const project = newFolder();
  writeFileSync(
    join(project, 'package.json'),
    JSON.stringify({ name: 'shop', type: 'module', private: true }),
  );
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], project);
  return project;
}

/** The Node of this project, and the older ones where `.ci/run` has put them; a clear notice for missing ones. */
export function runtimes(): { version: string; path: string }[] {
  const older = ['20', '22'].map(version => ({
    version,
    path: join(root, `node_modules/.cache/node-${version}/node_modules/.bin/node`),
  }));
  for (const { version, path } of older) if (!existsSync(path)) notice(version);
  return [...older.filter(({ path }) => existsSync(path)), { version: '24', path: process.execPath }];
}

function notice(version: string): void {
  const line = '!'.repeat(78);
  console.warn(
    `${line}\n!!  THE LIBRARY IS NOT TRIED ON NODE ${version}: it is not there.\n!!  Run .ci/run, which installs it.\n${line}`,
  );
}
