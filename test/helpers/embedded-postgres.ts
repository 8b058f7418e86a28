import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The process id of the embedded PostgreSQL in this folder. */
export const serverPid = (dataDir: string) =>
  Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

/** Zombies, which have ended but were not waited for, do not count as running. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
