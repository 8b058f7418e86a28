/** `npm run simulate -- [--seed N] [--seeds COUNT] [--hours H] [--minutes M] [--json]`: runs seeds against the real payment and webhook code. */
import { parseArgs } from 'node:util';
import { verifyLedger } from '../../src/ledger/index.ts';
import { endOfTime } from '../helpers/clock.ts';
import { describeFailure } from './report.ts';
import { type RunResult, runSeed } from './run.ts';
import { startServer } from './server.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    hours: { type: 'string' },
    minutes: { type: 'string' },
    json: { type: 'boolean' },
    trace: { type: 'boolean' },
  },
});

const seedsPerDatabase = 500;
const progressEveryMs = 2_000;

const startedMs = Date.now();
const forMs = Number(values.hours ?? 0) * 3_600_000 + Number(values.minutes ?? 0) * 60_000;
const firstSeed = Number(values.seed ?? startedMs % 1_000_000_000);
const seeds = forMs > 0 ? Number.POSITIVE_INFINITY : Number(values.seeds ?? 1);
const report = { firstSeed, seeds: 0, payments: 0, crashes: 0, steps: 0, simulatedHours: 0, wallSeconds: 0 };

if (Number.isNaN(forMs + firstSeed + seeds)) {
  console.error('--seed, --seeds, --hours and --minutes take a number.');
  process.exit(2);
}

const server = await startServer();
let failure: RunResult | undefined;
let ledgerFindings: unknown[] = [];
let pool = await server.newDatabase();
let shownMs = Date.now();

let isInterrupted = false;
process.once('SIGINT', () => {
  isInterrupted = true;
});
const isTimeLeft = () => !isInterrupted && (forMs === 0 || Date.now() - startedMs < forMs);
const findings = async () => (await verifyLedger(pool, { now: endOfTime })).findings;

try {
  while (!failure && ledgerFindings.length === 0 && report.seeds < seeds && isTimeLeft()) {
    const result = await runSeed(pool, firstSeed + report.seeds);
    report.seeds += 1;
    report.payments += result.payments;
    report.crashes += result.crashes;
    report.steps += result.steps;
    report.simulatedHours += result.simulatedMs / 3_600_000;
    report.wallSeconds = (Date.now() - startedMs) / 1000;
    if (result.violation) failure = result;
    else if (values.trace) for (const line of result.trace) process.stderr.write(`${line}\n`);
    if (Date.now() - shownMs >= progressEveryMs) {
      shownMs = Date.now();
      process.stderr.write(`${summary()}\n`);
    }
    if (report.seeds % seedsPerDatabase === 0) {
      ledgerFindings = await findings();
      pool = await server.newDatabase();
    }
    if (seeds === 1) process.stderr.write(`digest ${result.digest}\n`);
  }
  if (!failure && ledgerFindings.length === 0) ledgerFindings = await findings();
} finally {
  await server.close();
}

function summary(): string {
  const { seeds, payments, crashes, steps, simulatedHours, wallSeconds } = report;
  return `${seeds} seeds, ${payments} payments, ${crashes} crashes, ${simulatedHours.toFixed(1)} simulated hours, ${steps} steps in ${wallSeconds.toFixed(1)} s`;
}

if (failure) process.stderr.write(`${describeFailure(failure)}\n`);
if (ledgerFindings.length > 0) process.stderr.write(`ledger verify: ${JSON.stringify(ledgerFindings)}\n`);
const violation = failure && { seed: failure.seed, ...failure.violation };
console.log(values.json ? JSON.stringify({ ...report, violation, ledgerFindings }) : summary());
process.exitCode = failure || ledgerFindings.length > 0 ? 1 : 0;
