import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

export type SecretKey = ReturnType<typeof createKey>;
export type Keyring = ReturnType<typeof createKeyring>;

const idLength = 8;

export const keyIdOfFingerprint = (fingerprint: string) => fingerprint.slice(0, idLength);

/** One value of SECRET_KEY. */
function createKey(text: string) {
  const derived = new Map<string, KeyObject>();
  const bytesOf = (purpose: string) => createHmac('sha256', text).update(purpose).digest();
  const fingerprint = bytesOf('fingerprint').toString('hex');
  return {
    /** The first digits of the fingerprint: sealed values carry them. */
    id: keyIdOfFingerprint(fingerprint),
    fingerprint,
    text,
    /** A key for one purpose, so that no two uses share one. */
    derive: (purpose: string) => {
      const known = derived.get(purpose) ?? createSecretKey(bytesOf(purpose));
      derived.set(purpose, known);
      return known;
    },
  };
}

/**
 * The secret keys of this process: all of them open what they have sealed, and one seals. The texts are SECRET_KEY, then those of
 * SECRET_KEY_PREVIOUS. Until it follows a database, the first of the texts seals. `firstId` is that of the database's first key.
 */
export function createKeyring(texts: string[], firstId?: string) {
  const keys = [...new Set(texts)].map(createKey);
  let active = keys[0]!;
  const first = firstId ?? active.id;
  return {
    keys,
    /** The key that seals, signs and hashes. The database says which, so that all processes change over together. */
    active: () => active,
    /** The first key of a database: what it has sealed names no key, as in versions that knew only one. */
    isFirst: (key: SecretKey) => key.id === first,
    /** Called with the fingerprint of the key in use. False if this process does not have it: then nothing changes. */
    follow: (fingerprint: string) => {
      const found = keys.find(key => key.fingerprint === fingerprint);
      active = found ?? active;
      return found !== undefined;
    },
  };
}
