/**
 * `npm run simulate`: runs seeds against the real payment and webhook code, in one process per core. A seed runs the same again with
 * the same `--max-payments` and `--keeps-history`. `--chains` leaves out seeds without a chain.
 */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Finding } from '../../src/ledger/verify.ts';
import { readOptions, refuseCall } from '../helpers/program-options.ts';
import { describeFailure, describeRun } from './report.ts';
import { hasChainIn, type RunResult } from './run.ts';

/** To a process that runs seeds: run this one, or end. */
export interface Order {
  seed: number | null;
}

/** From it: a run has ended, or the ledger was verified; with neither, it is ready. */
export interface Finished {
  result?: RunResult;
  findings?: Finding[];
}

const usage =
  'npm run simulate -- [--seed N] [--seeds COUNT] [--hours H] [--minutes M] [--processes P] [--max-payments P] [--chains] [--keeps-history]';
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
  },
});

const progressEveryMs = 2_000;
const startedMs = Date.now();
const forMs = Number(values.hours ?? 0) * 3_600_000 + Number(values.minutes ?? 0) * 60_000;
const firstSeed = Number(values.seed ?? startedMs % 1_000_000_000);
const seeds = forMs > 0 ? Number.POSITIVE_INFINITY : Number(values.seeds ?? 1);
const processes = Math.min(seeds, Number(values.processes ?? availableParallelism()));
const maxPayments = Number(values['max-payments']);
if (Number.isNaN(forMs + firstSeed + seeds + processes + maxPayments)) refuseCall(usage);

const totals = { seeds: 0, payments: 0, crashes: 0, losses: 0, rebuilt: 0, steps: 0, simulatedMs: 0 };
const chainFaults: Record<string, number> = {};
const ledgerFindings: Finding[] = [];
let failure: RunResult | undefined;
let started = 0;
let lastSeed = firstSeed - 1;
let shownMs = startedMs;
let isInterrupted = false;
process.once('SIGINT', () => {
  isInterrupted = true;
});

/** Null: there is nothing left to do. */
function nextSeed(): number | null {
  const isTimeLeft = !isInterrupted && (forMs === 0 || Date.now() - startedMs < forMs);
  if (failure || ledgerFindings.length > 0 || started >= seeds || !isTimeLeft) return null;
  started += 1;
  lastSeed += 1;
  while (values.chains && !hasChainIn(lastSeed)) lastSeed += 1;
  return lastSeed;
}

function add(result: RunResult): void {
  for (const name of Object.keys(totals) as (keyof typeof totals)[])
    totals[name] += name === 'seeds' ? 1 : result[name];
  for (const [fault, count] of Object.entries(result.chainFaults))
    chainFaults[fault] = (chainFaults[fault] ?? 0) + count;
  if (result.violation) failure ??= result;
  process.stderr.write(`${describeRun(result)}\n`);
  if (Date.now() - shownMs < progressEveryMs) return;
  shownMs = Date.now();
  process.stderr.write(`${summary()}\n`);
}

function summary(): string {
  const { seeds, payments, crashes, losses, rebuilt, steps, simulatedMs } = totals;
  const [hours, seconds] = [simulatedMs / 3_600_000, (Date.now() - startedMs) / 1_000];
  return `${seeds} seeds, ${payments} payments, ${crashes} crashes, ${losses} lost histories, ${rebuilt} payments rebuilt, ${hours.toFixed(1)} simulated hours, ${steps} steps in ${seconds.toFixed(1)} s`;
}

/** A process that runs one seed after another; resolves when it has ended. */
function runInProcess(): Promise<void> {
  const program = join(import.meta.dirname, 'seeds.process.ts');
  const worker = fork(program, [`${maxPayments}`, `${values['keeps-history']}`], {
    serialization: 'advanced',
  });
  let isEnding = false;
  worker.on('message', ({ result, findings = [] }: Finished) => {
    if (result) add(result);
    ledgerFindings.push(...findings);
    if (isEnding) return;
    const order: Order = { seed: nextSeed() };
    isEnding = order.seed === null;
    worker.send(order);
  });
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', (code, signal) => {
      if (code === 0 && isEnding) resolve();
      else reject(new Error(`a process of the simulation ended with ${signal ?? code}`));
    });
  });
}
await Promise.all(Array.from({ length: processes }, runInProcess));

if (values.chains) process.stderr.write(`${JSON.stringify(chainFaults, null, 2)}\n`);
if (failure) process.stderr.write(`${describeFailure(failure)}\n`);
if (ledgerFindings.length > 0) process.stderr.write(`ledger verify: ${JSON.stringify(ledgerFindings)}\n`);
console.log(summary());
process.exitCode = failure || ledgerFindings.length > 0 ? 1 : 0;
