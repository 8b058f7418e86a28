import { join } from 'node:path';

const program = join(import.meta.dirname, '..', '..', 'cli', 'main.js');

/** A word for the shell that PostgreSQL runs; it replaces %f and %p itself, so other percent signs are doubled. */
const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`).replaceAll('%', '%%')}'`;

const kopeck = [process.execPath, program].map(quoted).join(' ');

/** For `archive_command`. */
export const archiveCommandFor = (address: string) => `${kopeck} archive-wal "%p" %f --to ${quoted(address)}`;

/** For `restore_command`. */
export const restoreCommandFor = (address: string) =>
  `${kopeck} restore-wal %f "%p" --from ${quoted(address)}`;
