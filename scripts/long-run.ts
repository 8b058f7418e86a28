/**
 * `npm run test:long`: runs what is run before a release, one part after the other, also when one fails, and writes into
 * `docs/internals/testing.md` how each ended. `-- faults simulate` runs only parts that have one of these words. Exits with 1 if
 * a part failed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const page = join(root, 'docs/internals/testing.md');

const parts = [
  'npx vitest run --mode long',
  'npm run faults -- --minutes 5',
  'npm run hostile -- --minutes 5',
  'npm run simulate -- --minutes 60',
  'npm run sabotage',
];

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const commit =
  git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ' and changes');

/** Runs a part; true if it passed. */
function runPart(command: string): boolean {
  console.log(`\n> ${command}\n`);
  const startedMs = Date.now();
  const { status } = spawnSync(command, { cwd: root, shell: true, stdio: 'inherit' });
  const minutes = Math.round((Date.now() - startedMs) / 60_000);
  const today = new Date().toISOString().slice(0, 10);
  writeRow(command, [today, commit, `${minutes}`, status === 0 ? 'passed' : `failed (${status})`]);
  return status === 0;
}

/** The rows of other parts stay as they were written when those ran. */
function writeRow(command: string, cells: string[]): void {
  const lines = readFileSync(page, 'utf8').split('\n');
  const row = lines.findIndex(line => line.startsWith(`| \`${command}\` |`));
  if (row === -1) throw new Error(`${page} has no row for ${command}`);
  lines[row] = `| ${[`\`${command}\``, ...cells].join(' | ')} |`;
  writeFileSync(page, lines.join('\n'));
}

const words = process.argv.slice(2);
const chosen = parts.filter(part => words.length === 0 || words.some(word => part.includes(word)));
if (chosen.length === 0) throw new Error(`no part has one of the words ${words.join(', ')}`);
const failed = chosen.filter(part => !runPart(part));
console.log(failed.length === 0 ? '\nAll parts passed.' : `\nFailed: ${failed.join('; ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
