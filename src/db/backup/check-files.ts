import { OperatorError } from '../../base/operator-error.ts';
import * as stores from '../backup-store/index.ts';

/** Reads the whole backup again and compares it with its manifest; the error names the files that differ. */
export async function checkFiles(
  store: stores.BackupStore,
  backup: stores.Manifest,
  onProgress: (doneBytes: number, ofBytes: number) => void = () => {},
): Promise<void> {
  let done = 0;
  const wrong: string[] = [];
  await stores.forEachFile(backup.files, async ({ path, bytes, sha256 }) => {
    const reading = stores.sumOf(store.read(`${stores.backupFolder(backup.id)}/${path}`), count => {
      done += count;
      onProgress(Math.min(done, backup.bytes), backup.bytes);
    });
    const found = await stores.ifThere(reading);
    if (!found) wrong.push(`${path} is missing`);
    else if (found.bytes !== bytes || found.sha256 !== sha256) wrong.push(`${path} is damaged`);
  });
  if (wrong.length === 0) return;
  const more = wrong.length > 3 ? `, and ${wrong.length - 3} more` : '';
  throw new OperatorError(
    `The backup ${backup.id} cannot be used: ${wrong.sort().slice(0, 3).join(', ')}${more}. Use another one.`,
  );
}
