/**
 * `npm run faults -- --minutes M [--seed N] [--json]`: the faults of the tests in random order, for the given time, on
 * their own database and bank side; then every scenario of `npm run failover`. Exits with 1 when anything is wrong.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { readOptions, refuseCall } from '../helpers/program-options.ts';
import { createRandom } from '../helpers/random.ts';
import { cutDatabase, freezeDatabase, freezeDatabaseBriefly, killDatabase } from './database-nemeses.ts';
import { disturbGateway } from './gateway-nemesis.ts';
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
};

const usage = 'npm run faults -- --minutes 10 [--seed 1] [--json]';
const { values } = readOptions(usage, {
  options: { minutes: { type: 'string' }, seed: { type: 'string' }, json: { type: 'boolean' } },
});
const minutes = Number(values.minutes ?? Number.NaN);
const seed = Number(values.seed ?? randomInt(2 ** 31));
if (!(minutes > 0) || !Number.isSafeInteger(seed)) refuseCall(usage);

const report = newReport(seed, minutes);
const random = createRandom(seed);
const untilMs = Date.now() + minutes * 60_000;
let current: { name: string; round?: Round } = { name: 'setting up' };
const progress = setInterval(() => {
  const { name, round } = current;
  const leftSec = Math.max(0, Math.round((untilMs - Date.now()) / 1_000));
  const wrong = report.findings.length + (round?.findings.length ?? 0);
  process.stderr.write(`${leftSec} s left; ${name}: ${round?.calls.length ?? 0} calls; ${wrong} findings\n`);
}, 1_000);

const world = await createWorld();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void world.close().finally(() => process.exit(1)));
}
try {
  for (let queue: string[] = []; Date.now() < untilMs; ) {
    if (queue.length === 0) queue = random.shuffle(Object.keys(nemeses));
    const name = queue.shift()!;
    const { nemesis, databaseIsWhole = false } = nemeses[name]!;
    current = { name };
    const onRound = (round: Round) => {
      current = { name, round };
    };
    const roundSeed = random.between(0, 2 ** 31);
    addRound(
      report,
      name,
      await runRound(world, createRandom(roundSeed), nemesis, { databaseIsWhole, onRound }),
    );
  }
} finally {
  clearInterval(progress);
  await world.close();
}
console.log(values.json ? JSON.stringify(report, null, 2) : describeReport(report));

const failover = join(import.meta.dirname, '..', 'failover', 'main.ts');
const options = ['--seed', `${seed}`, ...(values.json ? ['--json'] : [])];
const [failoverCode] = await once(
  spawn(process.execPath, [failover, ...options], { stdio: 'inherit' }),
  'exit',
);
process.exitCode = report.findings.length === 0 && failoverCode === 0 ? 0 : 1;
