/**
 * `npm run faults -- --minutes M`: the faults in random order, for the given time, on their own database and bank side; then every
 * fail-over. `npm run failover` is the second part alone, each with two nodes and servers of its own, and `npm run crashes` kills services
 * at random moments only; `--only NAME` runs one of all. Exits with 1 when anything is wrong.
 */
import { randomInt } from 'node:crypto';
import { failovers } from '../failover/all.ts';
import { missingPrograms } from '../failover/patroni-cluster.ts';
import { readOptions, refuseCall } from '../helpers/program-options.ts';
import { createRandom } from '../helpers/random.ts';
import { endsByKey } from './check-history.ts';
import { cutDatabase, freezeDatabase, freezeDatabaseBriefly, killDatabase } from './database-nemeses.ts';
import { disturbGateway } from './gateway-nemesis.ts';
import { killAgainAndAgain } from './kill-loop.ts';
import { freezeService, killService, terminateService } from './process-nemeses.ts';
import type { Round } from './round.ts';
import { type Nemesis, runRound } from './run.ts';
import { createWorld } from './world.ts';

/** The sum of many rounds: numbers and findings. */
const newReport = (seed: number, minutes: number) => ({
  seed,
  minutes,
  rounds: {} as Record<string, number>,
  calls: { ok: 0, failed: 0, unknown: 0 } as Record<string, number>,
  payments: { succeeded: 0, failed: 0, refused: 0 } as Record<string, number>,
  faults: {} as Record<string, number>,
  longestMs: {} as Record<string, number>,
  findings: [] as string[],
});
type Report = ReturnType<typeof newReport>;

function addRound(report: Report, name: string, round: Round): void {
  add(report.rounds, name);
  for (const { what, result, startedMs, endedMs } of round.calls) {
    if (what === 'pay') add(report.calls, result.kind);
    longest(report, 'any answer', endedMs - startedMs);
  }
  for (const { end } of endsByKey(round).values()) add(report.payments, end?.status ?? 'refused');
  for (const [fault, times] of round.faults) add(report.faults, fault, times);
  for (const [figure, ms] of round.longest) longest(report, figure, ms);
  report.findings.push(...round.findings.map(finding => `${name}: ${finding}`));
}

function add(counts: Record<string, number>, name: string, times = 1): void {
  counts[name] = (counts[name] ?? 0) + times;
}

function longest({ longestMs }: Report, figure: string, ms: number): void {
  longestMs[figure] = Math.max(longestMs[figure] ?? 0, Math.round(ms));
}

function describeReport(report: Report): string {
  const { seed, rounds, calls, payments, faults, longestMs, findings } = report;
  const section = (title: string, entries: Record<string, number>) =>
    [title, ...Object.entries(entries).map(([name, value]) => `  ${name.padEnd(40)} ${value}`)].join('\n');
  return [
    `Seed ${seed}`,
    section('Rounds', rounds),
    section('Calls that pay', calls),
    section('Payments by their end', payments),
    section('Faults', faults),
    section('Longest, in milliseconds', longestMs),
    findings.length === 0 ? 'Nothing is wrong.' : ['Wrong:', ...findings].join('\n  '),
  ].join('\n\n');
}

const nemeses: Record<string, { nemesis: Nemesis; databaseIsWhole?: boolean }> = {
  'database killed': { nemesis: killDatabase },
  'database frozen': { nemesis: freezeDatabase },
  'database frozen briefly': { nemesis: freezeDatabaseBriefly },
  'database connections cut': { nemesis: cutDatabase },
  'gateway unreliable': { nemesis: disturbGateway, databaseIsWhole: true },
  'service killed': { nemesis: killService },
  'service terminated': { nemesis: terminateService },
  'service frozen': { nemesis: freezeService },
  // Then everything is checked: books that are compared with each other stay small.
  crashes: { nemesis: killAgainAndAgain(15) },
};

const all = Object.keys({ ...nemeses, ...failovers }).join('|');
const usage = `npm run faults -- [--minutes 10] [--only ${all}] [--seed 1] [--json]`;
const { values } = readOptions(usage, {
  options: {
    minutes: { type: 'string' },
    only: { type: 'string' },
    seed: { type: 'string' },
    json: { type: 'boolean' },
  },
});
const isChosen = (name: string) => !values.only || name === values.only;
const [faults, names] = [Object.keys(nemeses).filter(isChosen), Object.keys(failovers).filter(isChosen)];
const minutes = Number(values.minutes ?? (names.length > 0 ? 0 : 1));
const seed = Number(values.seed ?? randomInt(2 ** 31));
if (!(minutes >= 0) || faults.length + names.length === 0 || !Number.isSafeInteger(seed)) refuseCall(usage);
if (missingPrograms.length > 0)
  console.error(`SKIPPED: fail-over with Patroni, since ${missingPrograms.join(', ')} cannot be found.`);

let current: { name: string; round?: Round } = { name: 'setting up' };
let isRight = true;
const startedMs = Date.now();
const progress = setInterval(() => {
  const { name, round } = current;
  const seconds = Math.round((Date.now() - startedMs) / 1_000);
  const counts = `${round?.calls.length ?? 0} calls; ${round?.findings.length ?? 0} findings`;
  process.stderr.write(`${seconds} s; ${name}: ${counts}\n`);
}, 5_000);
const optionsOf = (name: string) => ({
  checksTimes: true,
  onRound: (round: Round) => {
    current = { name, round };
  },
});

async function playFaults(): Promise<void> {
  const report = newReport(seed, minutes);
  const random = createRandom(seed);
  const world = await createWorld();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void world.close().finally(() => process.exit(1)));
  try {
    for (let queue: string[] = []; Date.now() < startedMs + minutes * 60_000; ) {
      if (queue.length === 0) queue = random.shuffle([...faults]);
      const name = queue.shift()!;
      const { nemesis, databaseIsWhole = false } = nemeses[name]!;
      const options = { ...optionsOf(name), databaseIsWhole };
      const ownRandom = createRandom(random.between(0, 2 ** 31));
      addRound(report, name, await runRound(world, ownRandom, nemesis, options));
    }
  } finally {
    await world.close();
  }
  print(report);
}

function print(report: Report): void {
  isRight &&= report.findings.length === 0;
  console.log(values.json ? JSON.stringify(report) : `${describeReport(report)}\n`);
}

if (minutes > 0 && faults.length > 0) await playFaults();
for (const name of names) {
  const report = newReport(seed, 0);
  addRound(report, name, await failovers[name]!(seed, optionsOf(name)));
  print(report);
}
clearInterval(progress);
process.exitCode = isRight ? 0 : 1;
