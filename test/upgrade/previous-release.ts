import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../helpers/folders.ts';

const root = join(import.meta.dirname, '..', '..');

/** The commit of the previous release. Tags may be missing in a clone, so a file names it. */
const previousRelease = readFileSync(join(import.meta.dirname, 'previous-release'), 'utf8').trim();

export const hasPreviousRelease =
  spawnSync('git', ['cat-file', '-e', `${previousRelease}^{commit}`], { cwd: root }).status === 0;

if (!hasPreviousRelease)
  console.warn(
    `\n  THE UPGRADE IS NOT TESTED: this clone does not have the previous release, commit ${previousRelease}.\n` +
      '  Fetch the whole history: git fetch --unshallow\n',
  );

export const migrationsOfPreviousRelease = () =>
  execFileSync('git', ['ls-tree', '--name-only', previousRelease, 'database/migrations/'], {
    cwd: root,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .map(path => path.split('/').at(-1)!);

/** The text of an SQL function in the previous release. */
export const functionOfPreviousRelease = (name: string) =>
  execFileSync('git', ['show', `${previousRelease}:database/functions/${name}.sql`], {
    cwd: root,
    encoding: 'utf8',
  });

/** Unpacks the previous release and returns its program. It runs with the packages of this one. */
export function unpackPreviousRelease(): string {
  const folder = newFolder();
  const archive = execFileSync('git', ['archive', previousRelease], { cwd: root, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).bin.kopeck);
}
