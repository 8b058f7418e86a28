import { Command } from 'commander';
import { findChain, removeOldBackups, sealSecretKey, takeBackup } from '../db/backup/index.ts';
import { listBackups, type Manifest, megabytes, withFileErrors } from '../db/backup-store/index.ts';
import { loadSettings } from '../db/secrets/index.ts';
import { positiveCount } from './arguments.ts';
import { backupStore } from './backup-store.ts';
import { type CommandContext, command, type WithDatabase } from './command.ts';
import { lateProgressBar, type Output, table } from './output.ts';
import { readPassphrase } from './passphrase.ts';
import { rehearse, restoreSteps } from './rehearsal.ts';
import { progressOn, type Terminal, withTerminal } from './terminal.ts';

const fromOption = ['--from <dir>', 'backup folder, or s3://BUCKET/FOLDER (default: BACKUP_DIR)'] as const;

export function backupCommands(withDatabase: WithDatabase, terminal: Terminal): Command {
  const create = command('create', 'back up the running database')
    .option('--to <dir>', 'backup folder, or s3://BUCKET/FOLDER (default: BACKUP_DIR)')
    .option('--keep <count>', 'keep this many backups and delete older ones', positiveCount)
    .option('--with-secret-key', 'include the secret key, encrypted with a passphrase')
    .action(withDatabase((context, options: CreateOptions) => createBackup(context, options, terminal)));
  const list = command('list', 'list complete backups')
    .option(...fromOption)
    .action(withTerminal(terminal)(listAll));
  const verify = command(
    'verify [backup]',
    'check a backup, restore it to a temporary folder and verify its ledger',
  )
    .option(...fromOption)
    .action(withTerminal(terminal)(verifyBackup));
  return new Command('backup')
    .description('back up the database, list and verify backups')
    .addCommand(create, { isDefault: true })
    .addCommand(list)
    .addCommand(verify);
}

interface CreateOptions {
  to?: string;
  keep?: number;
  withSecretKey?: boolean;
}

async function createBackup(
  { settings, keyring, audit, screen }: CommandContext,
  { to, keep, withSecretKey }: CreateOptions,
  terminal: Terminal,
): Promise<Output> {
  const store = backupStore(to, settings, '--to');
  const sealedKey = withSecretKey
    ? sealSecretKey(keyring.keys.map(({ text }) => text).join('\n'), await readPassphrase(terminal))
    : undefined;
  const backup = await withFileErrors(() =>
    takeBackup(audit.pool, {
      to: store,
      origin: settings.databaseUrl ? 'outside' : 'embedded',
      sealedKey,
      onProgress: lateProgressBar(screen, megabytes, 'MB'),
    }),
  );
  const removed = keep === undefined ? undefined : await withFileErrors(() => removeOldBackups(store, keep));
  const summary = `Backup ${backup.id} in ${store.address}: ${megabytes(backup.bytes)} MB.`;
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

async function verifyBackup(
  terminal: Terminal,
  backupId: string | undefined,
  { from }: { from?: string },
): Promise<Output> {
  const settings = loadSettings(terminal.env);
  const store = backupStore(from, settings, '--from');
  return rehearse(restoreSteps, { settings, from: store, backupId, progress: progressOn(terminal) });
}

const backupObject = ({ files, folders: _folders, ...backup }: Manifest) => ({
  ...backup,
  files: files.length,
});

async function listAll({ env }: Terminal, { from }: { from?: string }): Promise<Output> {
  const store = backupStore(from, loadSettings(env), '--from');
  const { backups, chains } = await withFileErrors(async () => {
    const all = await listBackups(store);
    return { backups: all, chains: await Promise.all(all.map(backup => findChain(store, backup))) };
  });
  const until = chains.map(
    ({ until: archived }, nth) => archived?.toISOString() ?? backups[nth]!.finished_at,
  );
  return {
    json: { backups: backups.map((backup, nth) => ({ ...backupObject(backup), covered_until: until[nth] })) },
    text: table(backups, (backup, nth) => ({
      backup: backup.id,
      'completed (UTC)': new Date(backup.finished_at),
      'covered until (UTC)': new Date(until[nth]!),
      MB: megabytes(backup.bytes),
      PostgreSQL: backup.postgres_version,
      timeline: backup.timeline,
      'secret key': backup.has_secret_key ? 'encrypted' : 'no',
    })),
  };
}
