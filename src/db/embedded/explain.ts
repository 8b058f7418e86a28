import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { OperatorError } from '../../base/operator-error.ts';

/** Turns the output of a PostgreSQL program into one line for the operator. */
export function explain(what: string, output: string, { dir }: { dir: string }): OperatorError {
  if (/No space left on device/.test(output) || isDiskFull(dir)) {
    return new OperatorError(`${what} in ${dir}: the disk is full. Free some space and start again.`);
  }
  const lines = output
    .split('\n')
    .filter(line => /error:|FATAL:|PANIC:|setpriv:|could not|cannot/.test(line));
  const reason = lines.at(-1)?.replace(/^.*(error|FATAL|PANIC): +/, '');
  return new OperatorError(`${what} in ${dir}: ${reason ?? 'it gave no reason'}.`);
}

/** On a full disk not even the reason can be logged. */
function isDiskFull(dir: string): boolean {
  const { bavail, bsize } = fs.statfsSync(dirname(dir));
  return bavail * bsize < 1024 * 1024;
}

export function cannotRun(command: string, error: Error): OperatorError {
  const hint =
    (error as NodeJS.ErrnoException).code === 'EACCES'
      ? 'PostgreSQL does not run as root, and only root may enter its folder. Install util-linux, start as an ordinary user, or set DATABASE_URL.'
      : 'Run npm install again, or set DATABASE_URL to a server of your own.';
  return new OperatorError(`${command} cannot be run (${error.message}). ${hint}`);
}
