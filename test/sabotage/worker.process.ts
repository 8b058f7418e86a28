/**
 * Has a copy of the repository, and a vitest that stays; removes the guards of one test file after the other in the copy, and runs the test
 * that is named for each.
 */
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVitest, type Vitest } from 'vitest/node';
import { removeGuard, type Sabotage, sabotages } from './all.ts';

/** The titles of the tests that failed without a guard. */
export interface Outcome {
  guard: string;
  failures: string[];
  seconds: number;
}

const repository = join(import.meta.dirname, '../..');
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
const copy = mkdtempSync(join(tmpdir(), 'kopeck-sabotage-'));
// A checkout that only root may enter gives the embedded server more rights.
chmodSync(copy, 0o755);
for (const part of parts) cpSync(join(repository, part), join(copy, part), { recursive: true });
symlinkSync(join(repository, 'node_modules'), join(copy, 'node_modules'));
process.chdir(copy);

let running: Vitest | undefined;
const stop = async () => {
  await running?.close();
  running = undefined;
};

interface Run {
  /** Only tests run whose title starts with one of these; all, if there are none. */
  titles?: string[];
  /** A mutation may make each of many tests wait until its time is over. */
  endsAtFirst?: boolean;
}

/** The titles of the failing tests. */
async function failuresIn(test: string, { titles = [], endsAtFirst = false }: Run = {}): Promise<string[]> {
  running ??= await createVitest({ root: copy, mode: 'all', watch: false, reporters: [{}], maxWorkers: 1 });
  const escaped = titles.map(title => title.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  // Before the title are those of its suites.
  const only = escaped.length > 0 ? { testNamePattern: new RegExp(`(?:^| )(?:${escaped.join('|')})`) } : {};
  running.config.bail = endsAtFirst ? 1 : 0;
  const specification = running.getRootProject().createSpecification(join(copy, test), only);
  const { testModules } = await running.runTestSpecifications([specification]);
  return testModules
    .filter(({ moduleId }) => moduleId === specification.moduleId)
    .flatMap(({ children }) => [...children.allTests('failed')].map(({ name }) => name));
}

const isNamed =
  ({ failingTitle }: Sabotage) =>
  (title: string) =>
    title.startsWith(failingTitle);

/** The set-up makes a database with this code, and would go on with the one that it has. */
const isPartOfSetUp = ({ file }: Sabotage) => /^(database|src\/db)\//.test(file);

async function runWithout(sabotage: Sabotage): Promise<string[]> {
  const path = join(copy, sabotage.file);
  const text = readFileSync(path, 'utf8');
  const change = async (changed: string) => {
    writeFileSync(path, changed);
    if (isPartOfSetUp(sabotage)) await stop();
    running?.invalidateFile(path);
  };
  await change(removeGuard(text, sabotage));
  try {
    const failures = await failuresIn(sabotage.test, { titles: [sabotage.failingTitle], endsAtFirst: true });
    if (failures.some(isNamed(sabotage))) return failures;
    // A test may need those before it, and its set-up the changed code.
    await stop();
    return await failuresIn(sabotage.test);
  } finally {
    await change(text);
  }
}

/** The entries of one test file. Answers with the outcome of each, and then with those whose test fails also with the guard. */
process.on('message', async (guards: string[]) => {
  const entries = sabotages.filter(({ guard }) => guards.includes(guard));
  for (const entry of entries) {
    const startedMs = performance.now();
    const failures = await runWithout(entry);
    const seconds = (performance.now() - startedMs) / 1_000;
    process.send!({ guard: entry.guard, failures, seconds } satisfies Outcome);
  }
  const { test } = entries[0]!;
  let anyway = await failuresIn(test, { titles: entries.map(({ failingTitle }) => failingTitle) });
  if (anyway.length > 0) anyway = await failuresIn(test);
  process.send!(entries.filter(entry => anyway.some(isNamed(entry))).map(({ guard }) => guard));
});
process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
process.once('disconnect', async () => {
  await stop();
  // Not with the code that vitest has set for the tests that failed.
  process.exit(0);
});
process.send!([]);
