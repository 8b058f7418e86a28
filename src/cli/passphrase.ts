import { OperatorError } from '../base/operator-error.ts';
import { withSecretFiles } from '../db/secrets/index.ts';
import type { Terminal } from './command.ts';

/** From the environment, or the first line of the input. Never an argument: everybody on the machine can see those. */
export async function readPassphrase({ env, stdin }: Terminal): Promise<string> {
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
