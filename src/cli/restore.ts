import { resolve } from 'node:path';
import { OperatorError } from '../base/operator-error.ts';
import { programName } from '../base/program-name.ts';
import {
  checkFiles,
  chooseBackup,
  requireEmpty,
  restoreBackup,
  unsealSecretKey,
} from '../db/backup/index.ts';
import {
  type BackupStore,
  backupFolder,
  type Manifest,
  megabytes,
  readAll,
  sealedKeyName,
  withFileErrors,
} from '../db/backup-store/index.ts';
import { loadSettings } from '../db/secrets/index.ts';
import { instant } from './arguments.ts';
import { backupStore } from './backup-store.ts';
import { lateProgressBar, type Output } from './output.ts';
import { readPassphrase } from './passphrase.ts';
import { abortOnSignals } from './signals.ts';
import { command, type Terminal, withTerminal } from './terminal.ts';

export const restoreCommand = (terminal: Terminal) =>
  command('restore', 'restore a backup into DATA_DIR, which must be empty')
    .option('--from <dir>', 'backup folder, or s3://BUCKET/FOLDER (default: BACKUP_DIR)')
    .option('--backup <id>', 'backup ID (default: the newest that fits)')
    .option('--at <time>', 'point in time to restore (default: the latest)', instant)
    .option('--with-secret-key', 'also restore the encrypted secret key; needs its passphrase')
    .action(withTerminal(terminal)((_terminal, options) => withFileErrors(() => restore(terminal, options))));

interface Options {
  from?: string;
  backup?: string;
  at?: Date;
  withSecretKey?: boolean;
}

/** Everything that can be refused is checked before anything is written. */
async function restore(terminal: Terminal, options: Options): Promise<Output> {
  const settings = loadSettings(terminal.env);
  if (settings.databaseUrl)
    throw new OperatorError(
      `${programName} restore is for the embedded PostgreSQL: unset DATABASE_URL, or restore your own server manually (docs/operations/backup.md).`,
    );
  const dataDir = resolve(settings.dataDir);
  const from = backupStore(options.from, settings, '--from');
  await requireEmpty(dataDir);
  const { backup, chain } = await chooseBackup(from, { id: options.backup, at: options.at });
  const secretKey = options.withSecretKey ? await readSealedKey(terminal, from, backup) : undefined;
  await checkFiles(from, backup, lateProgressBar(terminal.stderr, megabytes, 'MB checked'));
  const onProgress = lateProgressBar(terminal.stderr, megabytes, 'MB copied');
  const interrupted = new AbortController();
  const stopListening = abortOnSignals(interrupted);
  try {
    const { until } = await restoreBackup({
      ...{ from, dataDir, backup, chain, at: options.at, secretKey, onProgress },
      signal: interrupted.signal,
    });
    return {
      json: { data_dir: dataDir, backup_id: backup.id, until },
      text: `Restored ${backup.id} into ${dataDir}, with all commits until ${until}. Now run ${programName} start.`,
    };
  } finally {
    stopListening();
  }
}

async function readSealedKey(terminal: Terminal, from: BackupStore, backup: Manifest): Promise<string> {
  if (!backup.has_secret_key)
    throw new OperatorError(
      `The backup ${backup.id} does not include the secret key: set SECRET_KEY to the key of the service.`,
    );
  const sealed = await readAll(from, `${backupFolder(backup.id)}/${sealedKeyName}`);
  if (!sealed) throw new OperatorError(`${sealedKeyName} of the backup ${backup.id} is missing.`);
  return unsealSecretKey(sealed.toString(), await readPassphrase(terminal));
}
