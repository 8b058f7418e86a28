import { Command } from 'commander';
import { withFileErrors } from '../db/backup-store/files.ts';
import { archiveWal, restoreWal } from '../db/backup-store/wal-files.ts';
import { loadSettings } from '../db/secrets/secret-files.ts';
import { backupStore } from './backup-store.ts';
import { runProgram } from './run.ts';
import { command, printOutput, type Terminal } from './terminal.ts';

/** For `archive_command`: PostgreSQL repeats the call until it succeeds, and keeps the segment until then. */
export function archiveWalCommand(terminal: Terminal): Command {
  return command('archive-wal <path> <name>', 'copy a WAL file into the archive; for archive_command')
    .option('--to <dir>', 'backup folder, or s3://BUCKET/FOLDER (default: BACKUP_DIR)')
    .action(async (path, name, { json, to }) => {
      const store = backupStore(to, loadSettings(terminal.env), '--to');
      await withFileErrors(() => archiveWal(path, name, store));
      printOutput(terminal, json, { json: { archived: name }, text: `Archived ${name}.` });
    });
}

/** The server takes any code up to 125 for "there is no such file" and would end the recovery as if it were complete. */
const mustStop = 200;

/** For `restore_command`. */
export function restoreWalCommand(terminal: Terminal): Command {
  return command('restore-wal <name> <path>', 'copy a WAL file out of the archive; for restore_command')
    .option('--from <dir>', 'backup folder, or s3://BUCKET/FOLDER (default: BACKUP_DIR)')
    .action(async (name, path, { json, from }) => {
      try {
        const store = backupStore(from, loadSettings(terminal.env), '--from');
        const isBad = !(await withFileErrors(() => restoreWal(store, name, path)));
        const text = isBad ? `There is no ${name} in the archive.` : `Restored ${name}.`;
        printOutput(terminal, json, { json: { restored: !isBad }, text, isBad });
      } catch (error) {
        terminal.stderr.write(`${(error as Error).message}\n`);
        terminal.exitCode = mustStop;
      }
    });
}

/** These two commands alone. */
export const run = (args: string[], terminal: Terminal) =>
  runProgram(
    new Command('kopeck').addCommand(archiveWalCommand(terminal)).addCommand(restoreWalCommand(terminal)),
    args,
    terminal,
  );
