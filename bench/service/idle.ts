import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newFolder } from './cleanup.ts';
import type { Context } from './context.ts';
import type { Figure } from './figures.ts';
import { hasProcessFiles, msPerTick, type ProcessEntry, readFamily, readPostmaster } from './processes.ts';
import { startService } from './start-service.ts';

/** For more than a minute after a start V8 collects and gives back memory, which took as much time as all the rest. */
const settleMs = 90_000;
const measureMs = 60_000;

interface Shares {
  /** Per cent of a core: the busiest process that serves, and what else there is. */
  process: number;
  primary: number;
  simulator: number;
  postgres: number;
}

/** CPU time of a service that nobody calls, with default settings. */
export async function idleSection({ progress }: Context): Promise<Figure[]> {
  if (!hasProcessFiles) throw new Error('the idle cost needs /proc');
  const folder = newFolder('idle');
  try {
    const service = await startService(folder.dir);
    progress('Idle, to settle …');
    await sleep(settleMs);
    progress(`Idle, ${measureMs / 1_000} s …`);
    const before = read(service.pid, folder.dir);
    const startedMs = performance.now();
    await sleep(measureMs);
    const after = read(service.pid, folder.dir);
    const shares = sharesOf(before, after, performance.now() - startedMs, service.pid);
    await service.stop();
    return [figureOf(shares)];
  } finally {
    await folder.remove();
  }
}

interface Usage {
  service: ProcessEntry[];
  /** With the sessions that have ended: each check of the history opens one. */
  postgresTicks: number;
}

function read(pid: number, dataDir: string): Usage {
  const postmaster = readPostmaster(join(dataDir, 'postgres'));
  const ofServer = readFamily(postmaster);
  const pidsOfServer = new Set(ofServer.map(entry => entry.pid));
  const [server] = ofServer;
  return {
    service: readFamily(pid).filter(entry => !pidsOfServer.has(entry.pid)),
    postgresTicks: ofServer.reduce((sum, { ticks }) => sum + ticks, server!.ticksOfEnded),
  };
}

function sharesOf(before: Usage, after: Usage, elapsedMs: number, primaryPid: number): Shares {
  const share = (ticks: number) => (100 * ticks * msPerTick) / elapsedMs;
  const ticksBefore = new Map(before.service.map(({ pid, ticks }) => [pid, ticks]));
  const spent = after.service.map(({ pid, command, ticks }) => ({
    isPrimary: pid === primaryPid,
    isSimulator: command.includes('simulator'),
    share: share(ticks - (ticksBefore.get(pid) ?? 0)),
  }));
  const largest = (entries: typeof spent) => Math.max(0, ...entries.map(entry => entry.share));
  const workers = spent.filter(({ isPrimary, isSimulator }) => !isPrimary && !isSimulator);
  const primary = spent.filter(({ isPrimary }) => isPrimary);
  return {
    // One process is its own primary.
    process: largest(workers.some(each => each.share > 0) ? workers : primary),
    primary: largest(primary),
    simulator: largest(spent.filter(({ isSimulator }) => isSimulator)),
    postgres: share(after.postgresTicks - before.postgresTicks),
  };
}

const percent = (value: number) => `${value.toFixed(2)}%`;

const figureOf = (shares: Shares): Figure => ({
  what: 'CPU of an idle process, per cent of a core',
  measured: `${percent(shares.process)} (first process ${percent(shares.primary)}, PostgreSQL ${percent(shares.postgres)}, simulator ${percent(shares.simulator)})`,
  bar: { name: 'per cent of a core, idle', value: shares.process, limit: 0.5, rule: '≤' },
  values: { ...shares },
});
