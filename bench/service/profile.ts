import { readFileSync } from 'node:fs';
import type { Pool } from '../../src/db/pool.ts';
import type { Context } from './context.ts';
import { driveStrictly, payTargets, timing } from './drive.ts';
import type { BenchEnvironment } from './environment.ts';
import { type Figure, latency, rate, whole } from './figures.ts';
import type { PayingPartner } from './partners.ts';
import { hasProcessFiles, type ProcessEntry, type ProcessGroups, readGroups } from './processes.ts';

const connections = 256;
const msPerTick = 10;

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
  const spent = subtract(after.cpuMs, before.cpuMs);
  const busy = Object.values(spent).reduce((sum, ms) => sum + ms, driverMs);
  const rows = {
    ...spent,
    driver: driverMs,
    'other programs': Math.max(0, after.machineMs - before.machineMs - busy),
  };
  const perPayment = (value: number) => value / succeeded;
  const microseconds = (ms: number) => perPayment(ms * 1_000);
  const transactions = perPayment(after.transactions - before.transactions);
  const walBytes = perPayment(after.walBytes - before.walBytes);
  return [
    {
      what: `profile: ${name} payments, ${connections} connections`,
      measured: `${rate(windows[0]!.succeeded / windows[0]!.seconds)}; ${latency(windows[0]!)}`,
      against: `${whole(microseconds(busy))} µs of CPU, ${transactions.toFixed(2)} writing transactions and ${whole(walBytes)} bytes of WAL a payment`,
      values: { payments: succeeded, microseconds: microseconds(busy), transactions, walBytes },
    },
    ...Object.entries(rows).map(([group, ms]) => ({
      what: `profile: ${name} payments, ${group}`,
      measured: `${whole(microseconds(ms))} µs a payment`,
      against: group === 'other programs' ? 'not of this bench' : `${whole((ms / busy) * 100)}%`,
      values: { group, microseconds: microseconds(ms) },
    })),
  ];
}

interface Usage {
  cpuMs: Record<string, number>;
  machineMs: number;
  transactions: number;
  walBytes: number;
}

async function readUsage(environment: BenchEnvironment): Promise<Usage> {
  const database = await readDatabase(environment.pool);
  return { cpuMs: cpuOf(await readGroups(environment)), machineMs: readMachineMs(), ...database };
}

/** The processes that have ended count with the one that started them. */
const cpuOf = ({ service, postgres, bank }: ProcessGroups) => {
  const [postmaster] = postgres;
  const isSession = ({ command }: ProcessEntry) => command.includes('[local]');
  const sum = (entries: ProcessEntry[]) =>
    entries.reduce((ticks, entry) => ticks + entry.ticks, 0) * msPerTick;
  return {
    'PostgreSQL, sessions': sum(postgres.filter(isSession)) + postmaster!.ticksOfEnded * msPerTick,
    'PostgreSQL, background': sum(postgres.filter(entry => !isSession(entry))),
    'service, first process': sum(service.slice(0, 1)),
    'service, other processes': sum(service.slice(1)),
    'bank side': sum(bank),
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
