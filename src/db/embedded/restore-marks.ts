import { existsSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';
import { syncFolder, writeOnDisk } from '../backup-store/index.ts';

/** Everything that a restore writes is in this folder of DATA_DIR until it is complete. */
export const unfinishedRestoreIn = (dataDir: string) => join(dataDir, 'restore.unfinished');

/** A restore that was killed must neither be used as if it were complete, nor be replaced by a new, empty database. */
export function refuseUnfinishedRestore(dataDir: string): void {
  const folder = unfinishedRestoreIn(dataDir);
  if (!existsSync(folder)) return;
  throw new OperatorError(
    `A restore into ${dataDir} has not finished (${folder}): wait until it finishes. If it was interrupted, empty ${dataDir} and run kopeck restore again.`,
  );
}

/**
 * Says that the database in DATA_DIR was restored: what was committed after `until` is missing in it. The next one to open
 * the database begins a new incarnation with it, in which the service first asks the gateway for what is missing.
 */
export interface RestoredMark {
  restored_at: string;
  backup_id: string;
  until: string;
}

export const restoredMarkPath = (dataDir: string) => join(dataDir, 'restored.json');

/** Returns when the mark is on disk. */
export async function writeRestoredMark(dataDir: string, mark: RestoredMark): Promise<void> {
  await writeOnDisk(restoredMarkPath(dataDir), `${JSON.stringify(mark, null, 2)}\n`);
  await syncFolder(dataDir);
}

export const hasRestoredMark = (dataDir: string) => existsSync(restoredMarkPath(dataDir));

/** When the database has on record that it was restored. */
export async function removeRestoredMark(dataDir: string): Promise<void> {
  await fs.rm(restoredMarkPath(dataDir), { force: true });
  await syncFolder(dataDir);
}
