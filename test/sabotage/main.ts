/**
 * `npm run sabotage`: mutation tests. Removes the guards of money, events and access one after the other, in a copy of the
 * repository, and checks that the test named after each one fails. Run it after a change of code that moves money or sends
 * events. Names of guards as arguments select some of them.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { citusArchive } from '../citus/archive.ts';
import { sabotages } from './all.ts';
import { removeGuard, type Sabotage } from './sabotage.ts';

const parts = [
  'src',
  'database',
  'simulator',
  'sdk/src',
  'docs',
  'web',
  'test',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
];

function copyRepository(): string {
  const repository = join(import.meta.dirname, '../..');
  const copy = mkdtempSync(join(tmpdir(), 'kopeck-sabotage-'));
  for (const part of parts) cpSync(join(repository, part), join(copy, part), { recursive: true });
  symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** The titles of the tests that fail without the guard. */
function failuresWithout(sabotage: Sabotage, copy: string): string[] {
  const path = join(copy, sabotage.file);
  const text = readFileSync(path, 'utf8');
  const reportFile = join(copy, 'report.json');
  writeFileSync(path, removeGuard(text, sabotage));
  spawnSync('vitest', ['run', sabotage.test, '--mode=all', '--reporter=json', `--outputFile=${reportFile}`], {
    cwd: copy,
    // The copy is not where the archive is looked for.
    env: { ...process.env, ...(citusArchive ? { CITUS_ARCHIVE: citusArchive } : {}) },
  });
  writeFileSync(path, text);
  const report = JSON.parse(readFileSync(reportFile, 'utf8')) as {
    testResults: { assertionResults: { status: string; title: string }[] }[];
  };
  return report.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed')
    .map(({ title }) => title);
}

const names = process.argv.slice(2);
const copy = copyRepository();
for (const sabotage of sabotages.filter(({ guard }) => names.length === 0 || names.includes(guard))) {
  if (sabotage.test.startsWith('test/citus/') && !citusArchive) {
    console.log(`- without ${sabotage.guard}: skipped, there is no Citus for this machine`);
    continue;
  }
  const failures = failuresWithout(sabotage, copy);
  const isGuarded = failures.some(title => title.startsWith(sabotage.failingTitle));
  if (!isGuarded) process.exitCode = 1;
  const [first = 'no test fails', ...others] = failures;
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  console.log(`${isGuarded ? '✓' : '✗'} without ${sabotage.guard}: ${first}${more}`);
}
rmSync(copy, { recursive: true });
