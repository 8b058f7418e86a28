import { resolve } from 'node:path';
import { OperatorError } from '../base/operator-error.ts';
import { programName } from '../base/program-name.ts';
import * as dbBackup from '../db/backup/index.ts';
import * as stores from '../db/backup-store/index.ts';
import { loadSettings, withSecretFiles } from '../db/secrets/index.ts';
import { instant, positiveCount } from './arguments.ts';
import { backupStore } from './backup-store.ts';
import { type KeylessContext, openKeys } from './command.ts';
import { lateProgressBar, listing } from './output.ts';
import { rehearse, restoreSteps } from './rehearsal.ts';
import { abortOnSignals } from './signals.ts';
import { group, type MakeCommand, progressOn, type Terminal } from './terminal.ts';

const fromOption = ['--from <dir>', 'backup folder, or s3://BUCKET/FOLDER (default: BACKUP_DIR)'] as const;

export function backupCommands(withoutKeys: MakeCommand<KeylessContext>, command: MakeCommand<Terminal>) {
  const create = withoutKeys('create', 'back up the running database', createBackup)
    .option('--to <dir>', 'backup folder, or s3://BUCKET/FOLDER (default: BACKUP_DIR)')
    .option('--keep <count>', 'keep this many backups and delete older ones', positiveCount)
    .option('--with-secret-key', 'include the secret key, encrypted with a passphrase');
  const list = command('list', 'list complete backups', listAll).option(...fromOption);
  const what = 'check a backup, restore it to a temporary folder and verify its ledger';
  const verify = command('verify [backup]', what, verifyBackup).option(...fromOption);
  const description = 'back up the database, list and verify backups';
  return group('backup', description, [create, list, verify], 'create');
}

async function createBackup(
  context: KeylessContext,
  { to, keep, withSecretKey }: { to?: string; keep?: number; withSecretKey?: boolean },
) {
  const { settings, audit, terminal } = context;
  const store = backupStore(to, settings, '--to');
  const sealedKey = withSecretKey ? await sealKeys(context) : undefined;
  const backup = await stores.withFileErrors(() =>
    dbBackup.takeBackup(audit.pool, {
      to: store,
      origin: settings.databaseUrl ? 'outside' : 'embedded',
      sealedKey,
      onProgress: lateProgressBar(terminal.stderr, 'MB', stores.megabytes),
    }),
  );
  const removed =
    keep === undefined
      ? undefined
      : await stores.withFileErrors(() => dbBackup.removeOldBackups(store, keep));
  const summary = `Backup ${backup.id} in ${store.address}: ${stores.megabytes(backup.bytes)} MB.`;
  const kept = removed?.backups.length ? ` Removed ${removed.backups.join(', ')}.` : '';
  return {
    json: {
      ...backupObject(backup),
      removed: removed?.backups ?? [],
      removed_wal: removed?.walFiles ?? 0,
    },
    text: summary + kept,
  };
}

async function sealKeys(context: KeylessContext) {
  const { keys } = await openKeys(context);
  return dbBackup.sealSecretKey(
    keys.map(({ text }) => text).join('\n'),
    await readPassphrase(context.terminal),
  );
}

async function verifyBackup(terminal: Terminal, backupId: string | undefined, { from }: { from?: string }) {
  const settings = loadSettings(terminal.env);
  const store = backupStore(from, settings, '--from');
  return rehearse(restoreSteps, { settings, from: store, backupId, progress: progressOn(terminal) });
}

const backupObject = ({ files, folders: _folders, ...backup }: stores.Manifest) => ({
  ...backup,
  files: files.length,
});

async function listAll({ env }: Terminal, { from }: { from?: string }) {
  const store = backupStore(from, loadSettings(env), '--from');
  const { backups, chains } = await stores.withFileErrors(async () => {
    const all = await stores.listBackups(store);
    return { backups: all, chains: await Promise.all(all.map(backup => dbBackup.findChain(store, backup))) };
  });
  const shown = backups.map((backup, nth) => ({
    ...backupObject(backup),
    covered_until: chains[nth]!.until?.toISOString() ?? backup.finished_at,
  }));
  return listing({ backups: shown }, 'backups', {
    backup: 'id',
    'completed (UTC)': 'finished_at',
    'covered until (UTC)': 'covered_until',
    MB: backup => stores.megabytes(backup.bytes),
    PostgreSQL: 'postgres_version',
    timeline: 'timeline',
    'secret key': backup => (backup.has_secret_key ? 'encrypted' : 'no'),
  });
}

export const restoreCommand = (command: MakeCommand<Terminal>) =>
  command('restore', 'restore a backup into DATA_DIR, which must be empty', (terminal, options) =>
    stores.withFileErrors(() => restore(terminal, options)),
  )
    .option(...fromOption)
    .option('--backup <id>', 'backup ID (default: the newest that fits)')
    .option('--at <time>', 'point in time to restore (default: the latest)', instant)
    .option('--with-secret-key', 'also restore the encrypted secret key; needs its passphrase');

/** Everything that can be refused is checked before anything is written. */
async function restore(
  terminal: Terminal,
  options: { from?: string; backup?: string; at?: Date; withSecretKey?: boolean },
) {
  const settings = loadSettings(terminal.env);
  if (settings.databaseUrl)
    throw new OperatorError(
      `${programName} restore is for the embedded PostgreSQL: unset DATABASE_URL, or restore your own server manually (docs/operations/backup.md).`,
    );
  const dataDir = resolve(settings.dataDir);
  const from = backupStore(options.from, settings, '--from');
  await dbBackup.requireEmpty(dataDir);
  const { backup, chain } = await dbBackup.chooseBackup(from, { id: options.backup, at: options.at });
  const secretKey = options.withSecretKey ? await readSealedKey(terminal, from, backup) : undefined;
  await dbBackup.checkFiles(from, backup, lateProgressBar(terminal.stderr, 'MB checked', stores.megabytes));
  const onProgress = lateProgressBar(terminal.stderr, 'MB copied', stores.megabytes);
  const interrupted = new AbortController();
  const stopListening = abortOnSignals(interrupted);
  try {
    const { until } = await dbBackup.restoreBackup({
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

async function readSealedKey(terminal: Terminal, from: stores.BackupStore, backup: stores.Manifest) {
  if (!backup.has_secret_key)
    throw new OperatorError(
      `The backup ${backup.id} does not include the secret key: set SECRET_KEY to the key of the service.`,
    );
  const sealed = await stores.readAll(from, `${stores.backupFolder(backup.id)}/${stores.sealedKeyName}`);
  if (!sealed) throw new OperatorError(`${stores.sealedKeyName} of the backup ${backup.id} is missing.`);
  return dbBackup.unsealSecretKey(sealed.toString(), await readPassphrase(terminal));
}

/** From the environment, or the first line of the input. Never an argument: everybody on the machine can see those. */
async function readPassphrase({ env, stdin }: Terminal): Promise<string> {
  const given = withSecretFiles(env).KOPECK_BACKUP_PASSPHRASE;
  if (given) return given;
  let text = '';
  if (stdin && !stdin.isTTY) for await (const piece of stdin) text += piece;
  const [line = ''] = text.split(/\r?\n/);
  if (line) return line;
  throw new OperatorError(
    'Set KOPECK_BACKUP_PASSPHRASE, or pass the passphrase as the first line of standard input.',
  );
}
