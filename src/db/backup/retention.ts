import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { backupFolder, listBackups, readNames, unfinishedFolder, walFolder } from './layout.ts';

export interface Removed {
  backups: string[];
  walFiles: number;
}

/**
 * Removes all but the newest `keep` backups, and then the archived WAL before the first segment that a kept backup needs.
 * A backup loses its name before its files: one that is half removed is never taken for a complete one.
 */
export async function removeOldBackups(dir: string, keep: number): Promise<Removed> {
  const backups = await listBackups(dir);
  const old = backups.slice(0, Math.max(backups.length - keep, 0));
  for (const { id } of old) {
    await fs.rename(backupFolder(dir, id), unfinishedFolder(dir, id));
    await fs.rm(unfinishedFolder(dir, id), { recursive: true, force: true });
  }
  const needed = backups.slice(old.length).map(({ first_wal }) => positionOf(first_wal));
  return { backups: old.map(({ id }) => id), walFiles: await removeWalBefore(dir, needed.sort()[0]) };
}

/** Without the timeline: a segment of any timeline at a later position may lead on from the backup. */
const positionOf = (name: string) => name.slice(8, 24);

async function removeWalBefore(dir: string, position: string | undefined): Promise<number> {
  if (position === undefined) return 0;
  const folder = walFolder(dir);
  // Histories of timelines stay: they are small, and every later backup needs them.
  const isOld = (name: string) => /^[0-9A-F]{24}\./.test(name) && positionOf(name) < position;
  const old = (await readNames(folder)).filter(isOld);
  for (const name of old) await fs.rm(join(folder, name), { force: true });
  return old.length;
}
