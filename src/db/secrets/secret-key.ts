import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { IfMissing } from '../../base/missing-database.ts';
import { OperatorError } from '../../base/operator-error.ts';
import type { Settings } from '../../base/settings.ts';
import { writeNew } from '../backup-store/index.ts';
import { type Pool, type Queryable, readRow, transaction } from '../postgres/index.ts';
import { createKeyring, type Keyring } from './keyring.ts';
import { countOfUnknownKeys } from './sealed-values.ts';

/**
 * SECRET_KEY and SECRET_KEY_PREVIOUS of the settings, or the keys in DATA_DIR, of which `kopeck start` creates one for a
 * database that was never used with one. The key in use must be among them, and every key that has sealed something: else
 * API keys would not be recognised, so that stops the start.
 *
 * A start on a database that is in use writes nothing. The row is locked while the file is made: of several first starts one makes the key, and a process that dies before the
 * commit leaves a key that the next start uses.
 */
export async function openKeyring(settings: Settings, pool: Pool, ifMissing: IfMissing): Promise<Keyring> {
  const readKeys = async (known: KnownKeys) =>
    settings.secretKey !== undefined
      ? [settings.secretKey, ...settings.previousSecretKeys]
      : readOrMakeKeys(settings.dataDir, ifMissing, known.active !== null);
  const known = await readKnown(pool);
  if (known.active !== null) return checked(settings, pool, await readKeys(known), known);
  return transaction(pool, async tx => {
    const first = await readKnown(tx, 'FOR UPDATE');
    const texts = await readKeys(first);
    if (first.active !== null) return checked(settings, tx, texts, first);
    const keyring = createKeyring(texts);
    const { id, fingerprint } = keyring.active();
    await tx.query({ text: 'UPDATE service SET secret_key_fingerprint = $1', values: [fingerprint] });
    await tx.query({
      text: 'INSERT INTO secret_keys (id, fingerprint, is_first, active_from) VALUES ($1, $2, true, now())',
      values: [id, fingerprint],
    });
    return keyring;
  });
}

interface KnownKeys {
  /** The fingerprint of the key in use. */
  active: string | null;
  firstId: string | undefined;
}

async function readKnown(db: Queryable, lock = ''): Promise<KnownKeys> {
  const { active, first } = await readRow<{ active: string | null; first: string | null }>(db, {
    text: `SELECT secret_key_fingerprint AS active, (SELECT id FROM secret_keys WHERE is_first) AS first
             FROM service ${lock}`,
  });
  return { active, firstId: first ?? undefined };
}

async function checked(
  settings: Settings,
  db: Queryable,
  texts: string[],
  { active, firstId }: KnownKeys,
): Promise<Keyring> {
  const keyring = createKeyring(texts, firstId);
  const [source, previous] =
    settings.secretKey !== undefined
      ? ['SECRET_KEY', 'SECRET_KEY_PREVIOUS']
      : [`The key in ${join(settings.dataDir, 'secret.key')}`, 'the second line'];
  if (!keyring.follow(active!))
    throw new OperatorError(
      `${source} is not the one this database is used with: put that one back, or into ${previous} to replace it.`,
    );
  const { count, ids } = await countOfUnknownKeys(
    db,
    keyring.keys.map(({ id }) => id),
  );
  if (count === 0) return keyring;
  throw new OperatorError(
    `${count} stored secrets need an earlier key (${ids.join(', ')}): put it back into ${previous}, and keep it until \`kopeck secret status\` says that it can go.`,
  );
}

/**
 * After the heartbeat of the process is visible. A rotation locks the row before it looks at the processes: either it sees
 * this one and its keys, or this one waits here and reads the new key.
 */
export async function followActiveKey(db: Queryable, keyring: Keyring): Promise<void> {
  const { active } = await readKnown(db, 'FOR SHARE');
  if (!keyring.follow(active!))
    throw new OperatorError('The secret key was replaced during the start: set SECRET_KEY to the new one.');
}

async function readOrMakeKeys(
  dataDir: string,
  ifMissing: IfMissing,
  isDatabaseUsed: boolean,
): Promise<string[]> {
  const file = join(dataDir, 'secret.key');
  let lines: string[];
  try {
    if (!fs.existsSync(file)) {
      if (ifMissing === 'refuse') throw missingKey(file);
      if (isDatabaseUsed) throw lostKey(file);
      fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      await writeNew(file, randomBytes(32).toString('hex'));
    }
    const text = fs.readFileSync(file, 'utf8').trim();
    lines = text.split('\n').map(line => line.trim());
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const { message } = error as Error;
    throw new OperatorError(
      `DATA_DIR cannot keep a key (${message}): set it to a folder of your own, or set SECRET_KEY.`,
    );
  }
  if (lines.every(line => line.length >= 32)) return lines;
  throw new OperatorError(`${file} holds no key: put the one that was there back, or set SECRET_KEY.`);
}

const missingKey = (file: string) =>
  new OperatorError(
    `There is no ${file}: set DATA_DIR or SECRET_KEY as the service has them, or run \`kopeck start\` once.`,
  );

const lostKey = (file: string) =>
  new OperatorError(
    `There is no ${file}, and this database was first used with a key: put it back, or set SECRET_KEY to it. Nothing was written.`,
  );
