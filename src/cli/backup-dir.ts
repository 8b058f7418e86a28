import { resolve } from 'node:path';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';

/** The folder of the option or of BACKUP_DIR. */
export function backupDir(
  given: string | undefined,
  { backupDir: setting }: Settings,
  option: string,
): string {
  const dir = given ?? setting;
  if (dir === undefined) throw new OperatorError(`Say where the backups are: ${option} DIR, or BACKUP_DIR.`);
  return resolve(dir);
}
