import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** One value of SECRET_KEY. */
export interface SecretKey {
  /** The first digits of the fingerprint: sealed values carry them. */
  id: string;
  fingerprint: string;
  text: string;
  /** A key for one purpose, so that no two uses share one. */
  derive(purpose: string): KeyObject;
}

/** The secret keys of this process: all of them open what they have sealed, and one seals. */
export interface Keyring {
  /** SECRET_KEY first, then those of SECRET_KEY_PREVIOUS. */
  keys: readonly SecretKey[];
  /** The key that seals, signs and hashes. The database says which, so that all processes change over together. */
  active(): SecretKey;
  /** The first key of a database: what it has sealed names no key, as in versions that knew only one. */
  isFirst(key: SecretKey): boolean;
  /** Called with the fingerprint of the key in use. False if this process does not have it: then nothing changes. */
  follow(fingerprint: string): boolean;
}

const idLength = 8;

export const keyIdOfFingerprint = (fingerprint: string) => fingerprint.slice(0, idLength);

function createKey(text: string): SecretKey {
  const derived = new Map<string, KeyObject>();
  const bytesOf = (purpose: string) => createHmac('sha256', text).update(purpose).digest();
  const fingerprint = bytesOf('fingerprint').toString('hex');
  return {
    id: keyIdOfFingerprint(fingerprint),
    fingerprint,
    text,
    derive: purpose => {
      const known = derived.get(purpose) ?? createSecretKey(bytesOf(purpose));
      derived.set(purpose, known);
      return known;
    },
  };
}

/** Until it follows a database, the first of the texts seals. `firstId` is that of the database's first key. */
export function createKeyring(texts: string[], firstId?: string): Keyring {
  const keys = [...new Set(texts)].map(createKey);
  let active = keys[0]!;
  const first = firstId ?? active.id;
  return {
    keys,
    active: () => active,
    isFirst: key => key.id === first,
    follow: fingerprint => {
      const found = keys.find(key => key.fingerprint === fingerprint);
      active = found ?? active;
      return found !== undefined;
    },
  };
}
