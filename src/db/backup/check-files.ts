import { OperatorError } from '../../base/operator-error.ts';
import {
  type BackupStore,
  backupFolder,
  forEachFile,
  ifThere,
  type Manifest,
  sumOf,
} from '../backup-store/index.ts';

/** Reads the whole backup again and compares it with its manifest; the error names the files that differ. */
export async function checkFiles(
  store: BackupStore,
  backup: Manifest,
  onProgress: (doneBytes: number, ofBytes: number) => void = () => {},
): Promise<void> {
  let done = 0;
  const wrong: string[] = [];
  await forEachFile(backup.files, async ({ path, bytes, sha256 }) => {
    const reading = sumOf(store.read(`${backupFolder(backup.id)}/${path}`), count => {
      done += count;
      onProgress(Math.min(done, backup.bytes), backup.bytes);
    });
    const found = await ifThere(reading);
    if (!found) wrong.push(`${path} is missing`);
    else if (found.bytes !== bytes || found.sha256 !== sha256) wrong.push(`${path} is damaged`);
  });
  if (wrong.length === 0) return;
  const more = wrong.length > 3 ? `, and ${wrong.length - 3} more` : '';
  throw new OperatorError(
    `The backup ${backup.id} cannot be used: ${wrong.sort().slice(0, 3).join(', ')}${more}. Use another one.`,
  );
}
