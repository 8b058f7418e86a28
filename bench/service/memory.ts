import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface ProcessMemory {
  pid: number;
  role: string;
  bytes: number;
}

interface ProcessEntry {
  pid: number;
  parent: number;
  command: string;
}

const read = (pid: string | number, file: string) => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // The process has ended since it was listed.
    return '';
  }
};

function listProcesses(): ProcessEntry[] {
  if (!existsSync('/proc/self/stat')) return [];
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(pid => ({
      pid: Number(pid),
      parent: Number(/\) \S (\d+)/.exec(read(pid, 'stat'))?.[1] ?? 0),
      command: read(pid, 'cmdline').replaceAll('\0', ' '),
    }));
}

const residentBytes = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(read(pid, 'status'))?.[1] ?? 0) * 1_024;

/** Resident memory of a process and its descendants, without PostgreSQL. Linux only. */
export function readMemory(root: number): ProcessMemory[] {
  const all = listProcesses();
  const found: ProcessEntry[] = [];
  const visit = (entry: ProcessEntry | undefined) => {
    if (!entry || /\bpostgres\b/.test(entry.command.split(' ')[0]!)) return;
    found.push(entry);
    for (const child of all.filter(({ parent }) => parent === entry.pid)) visit(child);
  };
  visit(all.find(({ pid }) => pid === root));
  let workers = 0;
  const roleOf = ({ pid, command }: ProcessEntry) => {
    if (pid === root) return 'service';
    return /\bsimulator\b/.test(command) ? 'simulator of the bank' : `service, child ${++workers}`;
  };
  return found.map(entry => ({ pid: entry.pid, role: roleOf(entry), bytes: residentBytes(entry.pid) }));
}

/** Samples memory at an interval while `work` runs. */
export async function whileSampling<Result>(
  root: number,
  everyMs: number,
  work: () => Promise<Result>,
): Promise<{ result: Result; samples: ProcessMemory[][] }> {
  const samples: ProcessMemory[][] = [];
  const timer = setInterval(() => samples.push(readMemory(root)), everyMs);
  try {
    return { result: await work(), samples };
  } finally {
    clearInterval(timer);
  }
}
