import { Command } from 'commander';
import { withFileErrors } from '../db/backup-store/files.ts';
import { archiveWal, restoreWal } from '../db/backup-store/wal-files.ts';
import { loadSettings } from '../db/secrets/secret-files.ts';
import { backupStore } from './backup-store.ts';
import { command, commandsOn, runProgram, type Terminal, workAndPrint } from './terminal.ts';

/** For `archive_command`: PostgreSQL repeats the call until it succeeds, and keeps the segment until then. */
export const archiveWalCommand = (terminal: Terminal) =>
  commandsOn(terminal)(
    'archive-wal <path> <name>',
    'copy a WAL file into the archive; for archive_command',
    archive,
  ).option('--to <dir>', 'backup folder, or s3://BUCKET/FOLDER (default: BACKUP_DIR)');

async function archive({ env }: Terminal, path: string, name: string, { to }: { to?: string }) {
  const store = backupStore(to, loadSettings(env), '--to');
  await withFileErrors(() => archiveWal(path, name, store));
  return { json: { archived: name }, text: `Archived ${name}.` };
}

/** The server takes any code up to 125 for "there is no such file" and would end the recovery as if it were complete. */
const mustStop = 200;

/** For `restore_command`. */
export const restoreWalCommand = (terminal: Terminal) =>
  command('restore-wal <name> <path>', 'copy a WAL file out of the archive; for restore_command')
    .option('--from <dir>', 'backup folder, or s3://BUCKET/FOLDER (default: BACKUP_DIR)')
    .action((...given) =>
      workAndPrint(terminal, restore, terminal, given).catch(error => {
        terminal.stderr.write(`${(error as Error).message}\n`);
        terminal.exitCode = mustStop;
      }),
    );

async function restore({ env }: Terminal, name: string, path: string, { from }: { from?: string }) {
  const store = backupStore(from, loadSettings(env), '--from');
  const isBad = !(await withFileErrors(() => restoreWal(store, name, path)));
  const text = isBad ? `There is no ${name} in the archive.` : `Restored ${name}.`;
  return { json: { restored: !isBad }, text, isBad };
}

/** These two commands alone. */
export const run = (args: string[], terminal: Terminal) =>
  runProgram(
    new Command('kopeck').addCommand(archiveWalCommand(terminal)).addCommand(restoreWalCommand(terminal)),
    args,
    terminal,
  );
