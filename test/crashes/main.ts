/**
 * `npm run crashes -- --minutes M [--seed N] [--json]`: one service after another is killed with `kill -9` at a random moment while
 * partners pay; then unfinished payments are brought to their end and all are checked. Exits with 1 if any harm was done.
 */
import { randomInt } from 'node:crypto';
import { addRound, describeReport, newReport } from '../faults/report.ts';
import { runRound } from '../faults/run.ts';
import { createWorld } from '../faults/world.ts';
import { readOptions, refuseCall } from '../helpers/program-options.ts';
import { createRandom } from '../helpers/random.ts';
import { killAgainAndAgain } from './kill-loop.ts';

const usage = 'npm run crashes -- --minutes M [--seed N] [--json]';
const { values } = readOptions(usage, {
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed ?? randomInt(2 ** 31));
if (!(minutes > 0) || !Number.isSafeInteger(seed)) refuseCall(usage);

/** So many kills, and then everything is checked: books that are compared with each other stay small. */
const killsPerRound = 15;

const report = newReport(seed, minutes);
const random = createRandom(seed);
const untilMs = Date.now() + minutes * 60_000;
const isTimeOver = () => Date.now() >= untilMs;
const progress = setInterval(() => {
  const leftSec = Math.max(0, Math.round((untilMs - Date.now()) / 1_000));
  process.stderr.write(`${leftSec} s left; ${report.faults['service killed'] ?? 0} kills in whole rounds\n`);
}, 2_000);
const world = await createWorld();
process.once('SIGINT', () => void world.close().finally(() => process.exit(130)));
try {
  while (!isTimeOver() && report.findings.length === 0) {
    const round = await runRound(
      world,
      random,
      killAgainAndAgain(kills => kills === killsPerRound || isTimeOver()),
    );
    addRound(report, 'services killed', round);
  }
} finally {
  clearInterval(progress);
  await world.close();
}
process.stdout.write(`${values.json ? JSON.stringify(report) : describeReport(report)}\n`);
process.exitCode = report.findings.length > 0 ? 1 : 0;
