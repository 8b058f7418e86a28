import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';

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
