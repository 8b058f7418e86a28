/**
 * `npm run sabotage`: mutation tests. Removes the guards of money, events and access one after the other, in copies of the
 * repository, and checks that the test named after each one fails. Names of guards as arguments select some of them; `--changed` selects
 * those whose code, test or entry has changed since the last complete run, or since a commit.
 */
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { citusArchive } from '../citus/archive.ts';
import { temporaryFolder } from '../helpers/memory-folder.ts';
import { readOptions, refuseCall } from '../helpers/program-options.ts';
import { type Sabotage, sabotages } from './all.ts';
import type { Outcome } from './worker.process.ts';

const repository = join(import.meta.dirname, '../..');
const lastRunFile = join(import.meta.dirname, 'last-run.json');
/** Of the last complete run. */
interface LastRun {
  commit: string;
  date: string;
  minutes: number;
  entries: number;
  notCaught: string[];
}

const usage = 'npm run sabotage [-- --workers N] [GUARD ... | --changed [COMMIT]]';
const { values, positionals } = readOptions(usage, {
  options: { workers: { type: 'string' }, changed: { type: 'boolean' } },
  allowPositionals: true,
});
const workerCount = Number(values.workers ?? availableParallelism());
if (!Number.isSafeInteger(workerCount) || workerCount < 1) refuseCall(usage);

const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: repository, encoding: 'utf8', maxBuffer: 2 ** 27 });

/** The entries of another commit, as text; none if they had another form then. */
async function entriesAt(commit: string): Promise<Set<string>> {
  const folder = mkdtempSync(join(tmpdir(), 'kopeck-sabotage-'));
  const archive = execFileSync('git', ['archive', commit, 'test/sabotage'], {
    cwd: repository,
    maxBuffer: 2 ** 27,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  const { sabotages: before } = await import(join(folder, 'test/sabotage/all.ts')).catch(() => ({}));
  rmSync(folder, { recursive: true });
  return new Set((before as Sabotage[] | undefined)?.map(entry => JSON.stringify(entry)));
}

async function selectChanged([commit]: string[]): Promise<Sabotage[]> {
  const last = existsSync(lastRunFile)
    ? (JSON.parse(readFileSync(lastRunFile, 'utf8')) as LastRun)
    : undefined;
  const since = commit ?? last?.commit;
  if (!since) return sabotages;
  const files = new Set(git('diff', '--name-only', since).split('\n'));
  const before = await entriesAt(since);
  return sabotages.filter(
    entry =>
      files.has(entry.file) ||
      files.has(entry.test) ||
      !before.has(JSON.stringify(entry)) ||
      last?.notCaught.includes(entry.guard),
  );
}

function select(names: string[]): Sabotage[] {
  const unknown = names.find(name => !sabotages.some(({ guard }) => guard === name));
  if (unknown) refuseCall(usage, `There is no guard "${unknown}".`);
  return sabotages.filter(({ guard }) => names.length === 0 || names.includes(guard));
}

const selected = values.changed ? await selectChanged(positionals) : select(positionals);
const isComplete = !values.changed && positionals.length === 0;
const isRun = ({ test }: Sabotage) => citusArchive || !test.startsWith('test/citus/');
const due = selected.filter(isRun);
if (due.length < selected.length)
  console.log(`SKIPPED: ${selected.length - due.length} guards of Citus, which this machine does not have.`);
/** By test file; those with most entries first, so that no worker has many left at the end. */
const groups = [...Map.groupBy(due, ({ test }) => test).values()].sort((a, b) => b.length - a.length);

const notCaught: [guard: string, test: string, why: string][] = [];
const startedMs = Date.now();
const minutesSince = () => (Date.now() - startedMs) / 60_000;
let done = 0;

function report(entry: Sabotage, { failures, seconds }: Outcome): void {
  done += 1;
  const failure = failures.find(title => title.startsWith(entry.failingTitle));
  const why = failure ? '' : `fails: ${failures.join('; ') || 'nothing'}`;
  if (why) notCaught.push([entry.guard, entry.test, why]);
  const left = Math.ceil((minutesSince() / done) * (due.length - done));
  const progress = `${done} of ${due.length}, ${left} min left, ${seconds.toFixed(1)} s`;
  console.log(`${why ? '✗' : '✓'} without ${entry.guard}: ${why || failure} (${progress})`);
}

async function work(worker: ChildProcess): Promise<void> {
  const messages = on(worker, 'message');
  const next = async () => (await messages.next()).value![0];
  // It says so when it has its copy.
  await next();
  for (let group = groups.shift(); group; group = groups.shift()) {
    worker.send(group.map(({ guard }) => guard));
    for (const entry of group) report(entry, (await next()) as Outcome);
    for (const guard of (await next()) as string[]) {
      console.log(`✗ ${guard}: its test fails also with it`);
      notCaught.push([guard, group[0]!.test, 'the test fails also with the guard']);
    }
  }
  worker.disconnect();
}

const env = {
  ...process.env,
  TMPDIR: temporaryFolder(),
  // A copy is not where the archive is looked for.
  ...(citusArchive ? { CITUS_ARCHIVE: citusArchive } : {}),
};
const workers = Array.from({ length: Math.min(workerCount, groups.length) }, () =>
  fork(join(import.meta.dirname, 'worker.process.ts'), { env }),
);
await Promise.all(
  workers.map(worker => {
    const died = once(worker, 'exit').then(([code]) => {
      if (code !== 0) throw new Error(`a worker ended with ${code}`);
    });
    return Promise.all([Promise.race([work(worker), died]), died]);
  }),
);

const minutes = Math.round(minutesSince());
const missed = new Set(notCaught.map(([guard]) => guard));
if (isComplete) {
  const run: LastRun = {
    commit: git('rev-parse', 'HEAD').trim(),
    date: new Date().toISOString().slice(0, 10),
    minutes,
    entries: due.length,
    notCaught: [...missed],
  };
  writeFileSync(lastRunFile, `${JSON.stringify(run, null, 2)}\n`);
}
console.log(`\n${due.length - missed.size} of ${due.length} mutations were caught, in ${minutes} min.`);
for (const [guard, test, why] of notCaught) console.log(`✗ ${guard} (${test}): ${why}`);
process.exitCode = missed.size === 0 ? 0 : 1;
