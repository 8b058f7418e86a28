import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';
import { openStore } from '../db/backup-store/open-store.ts';

/** The one of the option or of BACKUP_DIR. */
export function backupStore(given: string | undefined, { backupDir: setting, s3 }: Settings, option: string) {
  const dir = given ?? setting;
  if (dir === undefined) throw new OperatorError(`Set the backup folder with ${option} DIR or BACKUP_DIR.`);
  return openStore(dir, s3);
}
