import { Command } from 'commander';
import { findChain, removeOldBackups, sealSecretKey, takeBackup } from '../db/backup/index.ts';
import {
  type BackupStore,
  listBackups,
  type Manifest,
  megabytes,
  withFileErrors,
} from '../db/backup-store/index.ts';
import { loadSettings } from '../db/secrets/index.ts';
import { positiveCount } from './arguments.ts';
import { backupStore } from './backup-store.ts';
import { command, printOutput, type Terminal, type WithDatabase } from './command.ts';
import { formatInstant, lateProgressBar, type Output, table } from './output.ts';
import { readPassphrase } from './passphrase.ts';
import { rehearse, restoreSteps } from './rehearsal.ts';

export function backupCommands(withDatabase: WithDatabase, terminal: Terminal): Command {
  return new Command('backup')
    .description('back up the database, list and verify backups')
    .addCommand(createCommand(withDatabase, terminal), { isDefault: true })
    .addCommand(listCommand(terminal))
    .addCommand(verifyCommand(terminal));
}

function createCommand(withDatabase: WithDatabase, terminal: Terminal): Command {
  return command('create', 'back up the running database')
    .option('--to <dir>', 'backup folder, or s3://BUCKET/FOLDER (default: BACKUP_DIR)')
    .option('--keep <count>', 'keep this many backups and delete older ones', positiveCount)
    .option('--with-secret-key', 'include the secret key, encrypted with a passphrase')
    .action(({ json, to, keep, withSecretKey = false }) =>
      withDatabase(json, async ({ settings, keyring, audit, screen }) => {
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
        const removed =
          keep === undefined ? undefined : await withFileErrors(() => removeOldBackups(store, keep));
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
      }),
    );
}

function listCommand(terminal: Terminal): Command {
  return command('list', 'list complete backups')
    .option('--from <dir>', 'backup folder, or s3://BUCKET/FOLDER (default: BACKUP_DIR)')
    .action(async ({ json, from }) => {
      const store = backupStore(from, loadSettings(terminal.env), '--from');
      printOutput(terminal, json, await withFileErrors(() => describeBackups(store)));
    });
}

function verifyCommand(terminal: Terminal): Command {
  return command('verify [backup]', 'check a backup, restore it to a temporary folder and verify its ledger')
    .option('--from <dir>', 'backup folder, or s3://BUCKET/FOLDER (default: BACKUP_DIR)')
    .action(async (backupId, { json, from }) => {
      const settings = loadSettings(terminal.env);
      const progress = (line: string) => void terminal.stderr.write(`${line}\n`);
      const store = backupStore(from, settings, '--from');
      printOutput(
        terminal,
        json,
        await rehearse(restoreSteps, { settings, from: store, backupId, progress }),
      );
    });
}

const backupObject = ({ files, folders: _folders, ...backup }: Manifest) => ({
  ...backup,
  files: files.length,
});

async function describeBackups(store: BackupStore): Promise<Output> {
  const backups = await listBackups(store);
  const chains = await Promise.all(backups.map(backup => findChain(store, backup)));
  const until = chains.map(
    ({ until: archived }, nth) => archived?.toISOString() ?? backups[nth]!.finished_at,
  );
  return {
    json: { backups: backups.map((backup, nth) => ({ ...backupObject(backup), covered_until: until[nth] })) },
    text: table(
      ['backup', 'completed (UTC)', 'covered until (UTC)', 'MB', 'PostgreSQL', 'timeline', 'secret key'],
      backups.map((backup, nth) => [
        backup.id,
        formatInstant(new Date(backup.finished_at)),
        formatInstant(new Date(until[nth]!)),
        `${megabytes(backup.bytes)}`,
        backup.postgres_version,
        `${backup.timeline}`,
        backup.has_secret_key ? 'encrypted' : 'no',
      ]),
    ),
  };
}
