/**
 * `npm run faults -- --minutes M`: the faults in random order, for the given time, on their own database and bank side; then every
 * fail-over. `npm run failover` is the second part alone, each with two nodes and servers of its own, and `npm run crashes` kills services
 * at random moments only; `--only NAME` runs one of all. Exits with 1 when anything is wrong.
 */
import { randomInt } from 'node:crypto';
import { failovers } from '../failover/all.ts';
import { missingPrograms } from '../failover/patroni-programs.ts';
import { readOptions, refuseCall } from '../helpers/program-options.ts';
import { createRandom } from '../helpers/random.ts';
import { cutDatabase, freezeDatabase, freezeDatabaseBriefly, killDatabase } from './database-nemeses.ts';
import { disturbGateway } from './gateway-nemesis.ts';
import { killAgainAndAgain } from './kill-loop.ts';
import { freezeService, killService, terminateService } from './process-nemeses.ts';
import { addRound, describeReport, newReport } from './report.ts';
import type { Round } from './round.ts';
import { type Nemesis, runRound } from './run.ts';
import { createWorld } from './world.ts';

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
      addRound(
        report,
        name,
        await runRound(world, createRandom(random.between(0, 2 ** 31)), nemesis, options),
      );
    }
  } finally {
    await world.close();
  }
  print(report);
}

function print(report: ReturnType<typeof newReport>): void {
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
