import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

const generated = ['package-lock.json', 'sdk/src/openapi.ts', 'database/guards.sql'];
const isText = /\.(ts|tsx|js|mjs|sql|css|html|json|md|sh)$|^\.ci\//;

/** Paths of the text files in git, and of new ones that are not ignored; without generated files. */
export function listTextFiles(): string[] {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listed
    .split('\n')
    .filter(path => isText.test(path) && !generated.includes(path) && existsSync(join(root, path)));
}
