import { createHmac, randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';
import type { IfMissing } from './missing.ts';
import { type Pool, type Queryable, transaction } from './pool.ts';
import { writeOnce } from './write-once.ts';

/** A key for one purpose, so that no two uses of SECRET_KEY share one. */
export const deriveKey = (secretKey: string, purpose: string) =>
  createHmac('sha256', secretKey).update(purpose).digest();

/**
 * The SECRET_KEY of the settings, or the one in DATA_DIR, which `kopeck start` creates for a database that was never used
 * with one. With another key than the first, no API key would be recognised, so that stops the start.
 *
 * A start on a database that is in use writes nothing. The row is locked while the file is made: of several first starts one makes the key, and a process that dies before the
 * commit leaves a key that the next start uses.
 */
export async function openSecretKey(settings: Settings, pool: Pool, ifMissing: IfMissing): Promise<string> {
  const readKey = (known: string | null) =>
    settings.secretKey ?? readOrMakeKey(settings.dataDir, ifMissing, known !== null);
  const known = await readFingerprint(pool);
  if (known !== null) return checkKey(settings, readKey(known), known);
  return transaction(pool, async tx => {
    const first = await readFingerprint(tx, 'FOR UPDATE');
    const secretKey = readKey(first);
    if (first !== null) return checkKey(settings, secretKey, first);
    const values = [fingerprintOf(secretKey)];
    await tx.query({ text: 'UPDATE service SET secret_key_fingerprint = $1', values });
    return secretKey;
  });
}

const fingerprintOf = (secretKey: string) => deriveKey(secretKey, 'fingerprint').toString('hex');

async function readFingerprint(db: Queryable, lock = ''): Promise<string | null> {
  const { rows } = await db.query<{ known: string | null }>({
    text: `SELECT secret_key_fingerprint AS known FROM service ${lock}`,
  });
  return rows[0]!.known;
}

function checkKey(settings: Settings, secretKey: string, known: string): string {
  if (fingerprintOf(secretKey) === known) return secretKey;
  const source = settings.secretKey ? 'SECRET_KEY' : `The key in ${join(settings.dataDir, 'secret.key')}`;
  throw new OperatorError(`${source} is not the one this database was first used with: put that one back.`);
}

function readOrMakeKey(dataDir: string, ifMissing: IfMissing, isDatabaseUsed: boolean): string {
  const file = join(dataDir, 'secret.key');
  let secretKey: string;
  try {
    if (!fs.existsSync(file)) {
      if (ifMissing === 'refuse') throw missingKey(file);
      if (isDatabaseUsed) throw lostKey(file);
      makeKey(file, dataDir);
    }
    secretKey = fs.readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const { message } = error as Error;
    throw new OperatorError(
      `DATA_DIR cannot keep a key (${message}): set it to a folder of your own, or set SECRET_KEY.`,
    );
  }
  if (secretKey.length >= 32) return secretKey;
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

function makeKey(file: string, dataDir: string): void {
  fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeOnce(file, randomBytes(32).toString('hex'));
}
