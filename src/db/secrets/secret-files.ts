import * as fs from 'node:fs';
import { OperatorError } from '../../base/operator-error.ts';
import { readSettings, type Settings } from '../../base/settings.ts';

/** Settings that may be in a file instead, named by the setting with `_FILE` at its end. */
const secretSettings = [
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'DATABASE_URL',
  'GATEWAY_TOKEN',
  'CRYPTO_PAY_TOKEN',
  'TELEGRAM_BOT_TOKEN',
  'TELEGRAM_WEBHOOK_SECRET',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'SMTP_URL',
  'KOPECK_BACKUP_PASSPHRASE',
  'DEPOSIT_TRON_RPC',
  'DEPOSIT_ETHEREUM_RPC',
  'DEPOSIT_BNB_RPC',
  'DEPOSIT_SCREEN_URL',
] as const;

/** Far more than any of them has; a wrong path may lead to a log. */
const maxBytes = 65_536;

type Environment = Record<string, string | undefined>;

/** The settings, with secrets from files: an environment is inherited by children and shown by tools, a file is not. */
export const loadSettings = (environment: Environment): Settings =>
  readSettings(withSecretFiles(environment));

export function withSecretFiles(environment: Environment): Environment {
  const secrets: Environment = {};
  for (const name of secretSettings) {
    const path = environment[`${name}_FILE`]?.trim();
    if (!path) continue;
    if (environment[name]?.trim())
      throw new OperatorError(`${name} and ${name}_FILE are both set: remove one.`);
    secrets[name] = readSecretFile(`${name}_FILE`, path);
  }
  return { ...environment, ...secrets };
}

function readSecretFile(name: string, path: string): string {
  let text: string;
  try {
    refuseOpenFile(name, path, fs.statSync(path));
    text = fs.readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${name} cannot be read (${path}: ${reasons(error)}).`);
  }
  if (text === '') throw new OperatorError(`${name} is an empty file (${path}): write the secret into it.`);
  return text;
}

function reasons(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file: create it, or correct the path';
  if (code === 'EACCES') return 'permission denied: make the user of the service its owner, with mode 600';
  return `${code}`;
}

/**
 * As PostgreSQL treats the key of its certificate: nobody else may read the file, except its group if root owns it.
 * Credentials of systemd are such files.
 */
function refuseOpenFile(name: string, path: string, file: fs.Stats): void {
  const { mode, uid, size } = file;
  if (!file.isFile()) throw new OperatorError(`${name} is not a file (${path}): correct the path.`);
  if (size > maxBytes)
    throw new OperatorError(`${name} is too long for a secret (${path}): correct the path.`);
  const isOpen = (mode & (uid === 0 ? 0o037 : 0o077)) !== 0;
  if (isOpen)
    throw new OperatorError(
      `${name} can be read or changed by other users (${path} has mode ${(mode & 0o777).toString(8)}): run chmod 600 ${path}, with the user of the service as its owner.`,
    );
}
