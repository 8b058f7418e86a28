/**
 * `npm run simulate -- [--seed N] [--seeds COUNT] [--hours H] [--minutes M] [--processes P]
 * [--max-payments P] [--chains] [--keeps-history] [--json]`: runs seeds against the real payment and webhook code, in one process per core. A seed runs
 * the same again with the same `--max-payments` and `--keeps-history`. `--chains` leaves
 * out seeds without a chain, and counts the faults of chains.
 */
import { availableParallelism } from 'node:os';
import type { Finding } from '../../src/ledger/verify.ts';
import { readOptions, refuseCall } from '../helpers/program-options.ts';
import { describeFailure } from './report.ts';
import { hasChainIn, type RunResult } from './run.ts';
import { startWorker } from './workers.ts';

const usage =
  'npm run simulate -- [--seed N] [--seeds COUNT] [--hours H] [--minutes M] [--processes P] [--max-payments P] [--chains] [--keeps-history] [--json]';
const { values } = readOptions(usage, {
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    hours: { type: 'string' },
    minutes: { type: 'string' },
    processes: { type: 'string' },
    'max-payments': { type: 'string', default: '32' },
    chains: { type: 'boolean', default: false },
    'keeps-history': { type: 'boolean', default: false },
    json: { type: 'boolean' },
    trace: { type: 'boolean' },
  },
});

const progressEveryMs = 2_000;

const startedMs = Date.now();
const forMs = Number(values.hours ?? 0) * 3_600_000 + Number(values.minutes ?? 0) * 60_000;
const firstSeed = Number(values.seed ?? startedMs % 1_000_000_000);
const seeds = forMs > 0 ? Number.POSITIVE_INFINITY : Number(values.seeds ?? 1);
const processes = Math.min(seeds, Number(values.processes ?? availableParallelism()));
const maxPayments = Number(values['max-payments']);
const report = {
  firstSeed,
  ...{ seeds: 0, payments: 0, crashes: 0, losses: 0, rebuilt: 0, steps: 0 },
  ...{ simulatedHours: 0, wallSeconds: 0 },
  chainFaults: {} as Record<string, number>,
};

if (Number.isNaN(forMs + firstSeed + seeds + processes + maxPayments)) refuseCall(usage);

let failure: RunResult | undefined;
const ledgerFindings: Finding[] = [];
let started = 0;
let lastSeed = firstSeed - 1;
let shownMs = Date.now();
let isInterrupted = false;
process.once('SIGINT', () => {
  isInterrupted = true;
});

function nextSeed(): number | undefined {
  const isTimeLeft = !isInterrupted && (forMs === 0 || Date.now() - startedMs < forMs);
  if (failure || ledgerFindings.length > 0 || started >= seeds || !isTimeLeft) return undefined;
  started += 1;
  lastSeed += 1;
  while (values.chains && !hasChainIn(lastSeed)) lastSeed += 1;
  return lastSeed;
}

function onResult(result: RunResult): void {
  report.seeds += 1;
  report.payments += result.payments;
  report.crashes += result.crashes;
  report.losses += result.losses;
  report.rebuilt += result.rebuilt;
  report.steps += result.steps;
  for (const [fault, count] of Object.entries(result.chainFaults))
    report.chainFaults[fault] = (report.chainFaults[fault] ?? 0) + count;
  report.simulatedHours += result.simulatedMs / 3_600_000;
  report.wallSeconds = (Date.now() - startedMs) / 1000;
  if (result.violation) failure ??= result;
  else if (values.trace) for (const line of result.trace) process.stderr.write(`${line}\n`);
  if (seeds === 1) process.stderr.write(`digest ${result.digest}\n`);
  if (Date.now() - shownMs < progressEveryMs) return;
  shownMs = Date.now();
  process.stderr.write(`${summary()}\n`);
}

function summary(): string {
  const { seeds, payments, crashes, losses, rebuilt, steps, simulatedHours, wallSeconds } = report;
  return `${seeds} seeds, ${payments} payments, ${crashes} crashes, ${losses} lost histories, ${rebuilt} payments rebuilt, ${simulatedHours.toFixed(1)} simulated hours, ${steps} steps in ${wallSeconds.toFixed(1)} s`;
}

const options = { maxPayments, keepsHistory: values['keeps-history'] };
const work = {
  nextSeed,
  onResult,
  onFindings: (found: Finding[]) => void ledgerFindings.push(...found),
};
await Promise.all(Array.from({ length: processes }, () => startWorker(options, work)));

if (values.chains) process.stderr.write(`${JSON.stringify(report.chainFaults, null, 2)}\n`);
if (failure) process.stderr.write(`${describeFailure(failure)}\n`);
if (ledgerFindings.length > 0) process.stderr.write(`ledger verify: ${JSON.stringify(ledgerFindings)}\n`);
const violation = failure && { seed: failure.seed, ...failure.violation };
console.log(values.json ? JSON.stringify({ ...report, violation, ledgerFindings }) : summary());
process.exitCode = failure || ledgerFindings.length > 0 ? 1 : 0;
