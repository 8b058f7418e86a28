import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchEnvironment } from './environment.ts';

/** Of the times in /proc. */
export const msPerTick = 10;

export interface ProcessEntry {
  pid: number;
  parent: number;
  command: string;
  /** CPU time in ticks of 10 ms: its own, and that of its children that have ended. */
  ticks: number;
  ticksOfEnded: number;
}

/** The processes of a bench environment by what they belong to. */
export interface ProcessGroups {
  service: ProcessEntry[];
  postgres: ProcessEntry[];
  /** PostgreSQL's sessions of the bench itself. */
  sessionsOfBench: ProcessEntry[];
  bank: ProcessEntry[];
}

/** Empty if the process has ended since it was listed. */
export const readProcessFile = (pid: string | number, file: string) => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
};

export const hasProcessFiles = readProcessFile('self', 'stat') !== '';

function readEntry(pid: number): ProcessEntry {
  // The name in parentheses may contain anything, so the fields are counted from its end.
  const stat = readProcessFile(pid, 'stat');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map(index =>
    Number(fields[index] ?? 0),
  ) as [number, number, number, number, number];
  const command = readProcessFile(pid, 'cmdline').replaceAll('\0', ' ');
  return { pid, parent, command, ticks: user + system, ticksOfEnded: endedUser + endedSystem };
}

const listProcesses = (): ProcessEntry[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(pid => readEntry(Number(pid)));

function withDescendants(root: number, all: ProcessEntry[]): ProcessEntry[] {
  const own = all.filter(({ pid }) => pid === root);
  const children = all.filter(({ parent }) => parent === root);
  return [...own, ...children.flatMap(({ pid }) => withDescendants(pid, all))];
}

/** A process and all that it and its children started. */
export const readFamily = (pid: number) => withDescendants(pid, listProcesses());

/** The first process of the server in this folder. */
export const readPostmaster = (folder: string) =>
  Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]);

/** PostgreSQL runs detached from the service, so it is found from one of its sessions. */
export async function readGroups({ service, bank, pool }: BenchEnvironment): Promise<ProcessGroups> {
  const { rows } = await pool.query<{ pid: number; isOwn: boolean }>(
    `SELECT pid, pid = pg_backend_pid() AS "isOwn" FROM pg_stat_activity WHERE application_name = 'kopeck bench'`,
  );
  const all = listProcesses();
  const postmaster = readEntry(rows.find(({ isOwn }) => isOwn)!.pid).parent;
  const ofBench = new Set(rows.map(({ pid }) => pid));
  const ofServer = withDescendants(postmaster, all);
  const pidsOfServer = new Set(ofServer.map(({ pid }) => pid));
  return {
    // The service may have started PostgreSQL: it is counted once.
    service: withDescendants(service.pid, all).filter(({ pid }) => !pidsOfServer.has(pid)),
    postgres: ofServer.filter(({ pid }) => !ofBench.has(pid)),
    sessionsOfBench: ofServer.filter(({ pid }) => ofBench.has(pid)),
    bank: withDescendants(bank.pid, all),
  };
}
