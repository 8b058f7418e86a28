/**
 * `npm run test:long`: runs what is run before a release, one part after the other, also when one fails, and writes into
 * `docs/internals/testing.md` how each ended. Exits with 1 if a part failed.
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
  'npm run simulate -- --minutes 10',
  'npm run sabotage',
];

interface PartResult {
  command: string;
  minutes: number;
  code: number | null;
}

function runPart(command: string): PartResult {
  console.log(`\n> ${command}\n`);
  const startedMs = Date.now();
  const { status: code } = spawnSync(command, { cwd: root, shell: true, stdio: 'inherit' });
  return { command, minutes: Math.round((Date.now() - startedMs) / 60_000), code };
}

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const commit = git('rev-parse', '--short', 'HEAD');
const hasChanges = git('status', '--porcelain') !== '';
const results: PartResult[] = [];
for (const command of parts) {
  results.push(runPart(command));
  const section = [
    '## The last long run',
    '',
    `${new Date().toISOString().slice(0, 10)}, commit \`${commit}\`${hasChanges ? ' and changes since' : ''}:`,
    '',
    '| part | minutes | result |',
    '|---|---|---|',
    ...parts.map((name, nth) => {
      const { minutes, code } = results[nth] ?? {};
      const result = code === undefined ? 'not run' : code === 0 ? 'passed' : `failed (${code})`;
      return `| \`${name}\` | ${minutes ?? ''} | ${result} |`;
    }),
  ].join('\n');
  const text = readFileSync(page, 'utf8');
  writeFileSync(
    page,
    text.replace(/^## The last long run\n[\s\S]*?(?=\n\n## )/m, () => section),
  );
  if (results.length === parts.length) console.log(`\n${section}`);
}
process.exitCode = results.every(({ code }) => code === 0) ? 0 : 1;
