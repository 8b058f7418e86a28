import { randomBytes, scryptSync } from 'node:crypto';
import { OperatorError } from '../../base/operator-error.ts';
import { seal, unseal } from '../secrets/index.ts';

/** 128 MiB and about half a second for each guess of the passphrase. */
const scrypt = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 };
const subject = 'secret key of a backup';
const minPassphraseLength = 12;

const keyFrom = (passphrase: string, salt: Buffer) => scryptSync(passphrase.normalize(), salt, 32, scrypt);

/** With the earlier keys that are still in use, one per line: a backup may need them. */
export function sealSecretKey(secretKeys: string, passphrase: string): string {
  if (passphrase.length < minPassphraseLength)
    throw new OperatorError(`The passphrase must have at least ${minPassphraseLength} characters.`);
  const salt = randomBytes(16);
  const sealed = seal(keyFrom(passphrase, salt), Buffer.from(secretKeys), subject);
  return JSON.stringify({ format: 1, salt: salt.toString('base64'), sealed: sealed.toString('base64') });
}

export function unsealSecretKey(content: string, passphrase: string): string {
  const { salt, sealed } = JSON.parse(content) as Record<'salt' | 'sealed', string>;
  try {
    const key = keyFrom(passphrase, Buffer.from(salt, 'base64'));
    return unseal(key, Buffer.from(sealed, 'base64'), subject).toString();
  } catch {
    throw new OperatorError('The passphrase is not the one that this backup was made with.');
  }
}
