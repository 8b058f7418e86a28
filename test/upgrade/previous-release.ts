import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../helpers/folders.ts';

const root = join(import.meta.dirname, '..', '..');

/** The last version before releases began, whose databases are brought over. */
export const version01 = 'eb499973';

/** The commit of the previous release, in a file since tags may be missing in a clone; before the second release the one in use. */
export const previousRelease =
  readFileSync(join(import.meta.dirname, 'previous-release'), 'utf8').trim() || 'HEAD';

/** Whether the clone has the commit; a notice says so if it has not. */
export function hasCommit(commit: string): boolean {
  const found = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root }).status === 0;
  if (!found)
    console.warn(
      `\n  THE UPGRADE IS NOT TESTED: this clone does not have the commit ${commit}.\n` +
        '  Fetch the whole history: git fetch --unshallow\n',
    );
  return found;
}

export const migrationsOf = (commit: string) =>
  execFileSync('git', ['ls-tree', '--name-only', commit, 'database/migrations/'], {
    cwd: root,
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .map(path => path.split('/').at(-1)!);

/** Unpacks the version and returns its program. It runs with the packages of this one. */
export function unpack(commit: string): string {
  const folder = newFolder();
  const archive = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'src', 'cli', 'main.js');
}
