import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Pool } from '../../src/db/postgres/index.ts';
import type { Window } from '../driver/plan.ts';
import type { Context } from './context.ts';
import { profileParts } from './cpu-profile.ts';
import { driveStrictly, payTargets, perSecond, timing } from './drive.ts';
import type { BenchEnvironment } from './environment.ts';
import { type Figure, latency, rate, whole } from './figures.ts';
import type { PayingPartner } from './partners.ts';
import {
  hasProcessFiles,
  msPerTick,
  type ProcessEntry,
  type ProcessGroups,
  readGroups,
} from './processes.ts';

const connections = 256;

/** CPU time of a payment by group of processes, in test and in live mode. */
export async function profileSection(context: Context): Promise<Figure[]> {
  if (!hasProcessFiles) throw new Error('the profile needs /proc');
  const environment = await context.environment();
  const figures: Figure[] = [];
  for (const [name, partners] of [
    ['test', environment.partners],
    ['live', await context.livePartners()],
  ] as const)
    figures.push(...(await profile(name, environment, partners, context)));
  return figures;
}

async function profile(
  name: string,
  environment: BenchEnvironment,
  partners: PayingPartner[],
  { seconds, progress }: Context,
): Promise<Figure[]> {
  const load = () =>
    driveStrictly({
      address: environment.service.address,
      targets: payTargets(partners),
      work: 'pay',
      load: { connections },
      ...timing(seconds),
      warmUpMs: 0,
    });
  progress(`Profile of ${name} payments, to warm up …`);
  await load();
  progress(`Profile of ${name} payments, ${connections} connections …`);
  const before = await readUsage(environment);
  const { succeeded, cpuMs: driverMs, windows } = await load();
  const after = await readUsage(environment);
  progress(`Profile of ${name} payments, by part of the service …`);
  const parts = await profileParts(environment.service, load);
  const spent = { ...subtract(after.cpuMs, before.cpuMs), driver: driverMs };
  const busyMs = Object.values(spent).reduce((sum, ms) => sum + ms, 0);
  const otherMs = after.machineMs - before.machineMs - busyMs;
  const microsOfService = ((after.cpuMs[firstProcess]! - before.cpuMs[firstProcess]!) * 1_000) / succeeded;
  return [
    summaryOf(name, { payments: succeeded, window: windows[0]!, busyMs, before, after }),
    ...Object.entries(spent).map(([group, ms]) => {
      const microseconds = (ms * 1_000) / succeeded;
      return {
        what: `profile: ${name} payments, ${group}`,
        measured: `${whole(microseconds)} µs a payment`,
        against: `${whole((ms / busyMs) * 100)}%`,
        values: { group, microseconds },
      };
    }),
    ...Object.entries(parts)
      .filter(([, share]) => share >= minShare)
      .map(([part, share]) => partOf(name, part, share, microsOfService)),
    otherPrograms(name, Math.max(0, otherMs) / (after.atMs - before.atMs)),
  ];
}

const firstProcess = 'service, first process';
/** Parts that take less are not shown. */
const minShare = 0.01;

/** By samples of a second load, since sampling takes time, too. */
const partOf = (name: string, part: string, share: number, microsOfService: number): Figure => ({
  what: `profile: ${name} payments, service: ${part}`,
  measured: `${whole(share * microsOfService)} µs a payment`,
  against: `${whole(share * 100)}% of the service`,
  values: { part, share },
});

interface Profiled {
  payments: number;
  window: Window;
  busyMs: number;
  before: Usage;
  after: Usage;
}

function summaryOf(name: string, { payments, window, busyMs, before, after }: Profiled): Figure {
  const microseconds = (busyMs * 1_000) / payments;
  const transactions = (after.transactions - before.transactions) / payments;
  const walBytes = (after.walBytes - before.walBytes) / payments;
  return {
    what: `profile: ${name} payments, ${connections} connections`,
    measured: `${rate(perSecond(window))}; ${latency(window)}`,
    against: `${whole(microseconds)} µs of CPU, ${transactions.toFixed(2)} writing transactions and ${whole(walBytes)} bytes of WAL a payment`,
    values: { perSecond: perSecond(window), payments, microseconds, transactions, walBytes },
  };
}

/** Those that are not of the bench, and the start of the driver. With more than a little of it the profile is not valid. */
const otherPrograms = (name: string, cores: number): Figure => ({
  what: `profile: ${name} payments, other programs`,
  measured: `${cores.toFixed(2)} of ${cpus().length} cores`,
  values: { cores },
});

interface Usage {
  atMs: number;
  cpuMs: Record<string, number>;
  machineMs: number;
  transactions: number;
  walBytes: number;
}

async function readUsage(environment: BenchEnvironment): Promise<Usage> {
  const database = await readDatabase(environment.pool);
  const cpuMs = cpuOf(await readGroups(environment));
  return { atMs: performance.now(), cpuMs, machineMs: readMachineMs(), ...database };
}

/**
 * Sessions that have ended count with the postmaster, with all that they ever used. So all of them count from the start, also
 * those of the bench, which use almost nothing meanwhile.
 */
const cpuOf = ({ service, postgres: ofService, sessionsOfBench, bank }: ProcessGroups) => {
  const postgres = [...ofService, ...sessionsOfBench];
  const [postmaster] = postgres;
  const isSession = ({ command }: ProcessEntry) => command.includes('[local]');
  const sum = (entries: ProcessEntry[]) =>
    entries.reduce((ticks, entry) => ticks + entry.ticks, 0) * msPerTick;
  return {
    'PostgreSQL, sessions': sum(postgres.filter(isSession)) + postmaster!.ticksOfEnded * msPerTick,
    'PostgreSQL, background': sum(postgres.filter(entry => !isSession(entry))),
    [firstProcess]: sum(service.slice(0, 1)),
    'service, other processes': sum(service.slice(1)),
    'payment gateway': sum(bank),
  };
};

const subtract = (after: Record<string, number>, before: Record<string, number>) =>
  Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, ms - (before[name] ?? 0)]));

/** CPU time of all programs on all cores: the first line is user, nice, system, idle, iowait, irq, softirq, steal. */
function readMachineMs(): number {
  const [user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0]!
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number) as [number, number, number, number, number, number, number];
  return (user + nice + system + irq + softirq) * msPerTick;
}

/** Transactions that wrote, by their ids: the statistics of the server lag behind. */
async function readDatabase(pool: Pool): Promise<{ transactions: number; walBytes: number }> {
  const { rows } = await pool.query(
    `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS transactions,
            pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS "walBytes"`,
  );
  return rows[0];
}
