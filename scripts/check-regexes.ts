/**
 * Every regular expression takes linear time: one that takes longer lets anybody hold the event loop with a short
 * text. `recheck` proves it or searches for an attack, which takes up to seconds each, so the verdicts are kept in
 * regular-expressions.json.
 *
 *   node scripts/check-regexes.ts           fails for an expression that is not in the list
 *   node scripts/check-regexes.ts --write   checks the ones that are not in the list, and updates it
 *   node scripts/check-regexes.ts --all     checks all of them again
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listRegularExpressions, partsOf } from './regular-expressions.ts';

// The one backend that runs on every platform.
process.env.RECHECK_BACKEND = 'pure';
const { check } = await import('recheck');

const [option] = process.argv.slice(2);
const file = join(import.meta.dirname, 'regular-expressions.json');
const listed: Record<string, string> = JSON.parse(readFileSync(file, 'utf8'));
const found = listRegularExpressions();

function fail(line: string): void {
  console.error(line);
  process.exitCode = 1;
}

async function verdictOf(expression: string): Promise<string | undefined> {
  const result = await check(...partsOf(expression), { timeout: 60_000 });
  if (result.status === 'safe') return result.complexity.summary;
  const why =
    result.status === 'vulnerable' ? result.complexity.summary : `not decided: ${result.error.kind}`;
  const example = result.status === 'vulnerable' ? `, for example with ${result.attack.pattern}` : '';
  fail(`${[...found.get(expression)!].join(', ')}  ${expression}  is not linear (${why}${example})`);
  return undefined;
}

const verdicts: Record<string, string> = {};
for (const [expression, files] of [...found].sort(([a], [b]) => (a < b ? -1 : 1))) {
  const known = option === '--all' ? undefined : listed[expression];
  if (known !== undefined) verdicts[expression] = known;
  else if (!expression.startsWith('/')) fail(`${expression}: write it as a literal`);
  else if (option === undefined) fail(`${[...files].join(', ')}  ${expression}  is new: run npm run regexes`);
  else {
    const verdict = await verdictOf(expression);
    if (verdict !== undefined) verdicts[expression] = verdict;
  }
}
for (const expression of Object.keys(listed))
  if (!found.has(expression) && option === undefined) fail(`${expression}  is gone: run npm run regexes`);
if (option === '--write') writeFileSync(file, `${JSON.stringify(verdicts, null, 2)}\n`);
if (option === '--all' && process.exitCode !== 1)
  console.log(`${found.size} regular expressions are linear.`);
