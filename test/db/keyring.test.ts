import { createCipheriv, type KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createKeyring } from '../../src/db/secrets/keyring.ts';
import { createSealer, seal } from '../../src/db/secrets/sealing.ts';

const oldKey = 'the first secret key, long enough for it';
const newKey = 'the second secret key, long enough for it';
const purpose = 'a purpose of the tests';
const secret = Buffer.from('a webhook secret');

const idOf = (key: string) => createKeyring([key]).active().id;
/** As processes have them during a rotation: the database says which key is in use. */
function during(inUse: string, keys = [newKey, oldKey]) {
  const keyring = createKeyring(keys, idOf(oldKey));
  expect(keyring.follow(createKeyring([inUse]).active().fingerprint)).toBe(true);
  return keyring;
}

describe('sealed values', () => {
  test('of the first key have no name, as in versions with one key', () => {
    const keyring = during(oldKey);
    const sealed = createSealer(keyring, purpose).seal(secret, 'prt_1');
    expect(sealed).toHaveLength(secret.length + 28);
    const asBefore = seal(keyring.active().derive(purpose), secret, 'prt_1');
    expect(createSealer(during(newKey), purpose).unseal(asBefore, 'prt_1')).toEqual(secret);
  });

  test('of a later key begin with its id', () => {
    const sealed = createSealer(during(newKey), purpose).seal(secret, 'prt_1');
    expect(sealed.subarray(0, 5).toString('hex')).toBe(`02${idOf(newKey)}`);
    expect(createSealer(during(oldKey), purpose).unseal(sealed, 'prt_1')).toEqual(secret);
    expect(createSealer(during(newKey, [newKey]), purpose).unseal(sealed, 'prt_1')).toEqual(secret);
  });

  test('open only with their key, for their subject and purpose, and unchanged', () => {
    const sealed = createSealer(during(newKey), purpose).seal(secret, 'prt_1');
    const open =
      (keys: string[], subject: string, of = purpose) =>
      () =>
        createSealer(createKeyring(keys, idOf(oldKey)), of).unseal(sealed, subject);
    expect(open([oldKey], 'prt_1')).toThrow('no secret key');
    expect(open([newKey], 'prt_2')).toThrow('no secret key');
    expect(open([newKey], 'prt_1', 'another purpose')).toThrow('no secret key');
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      expect(() => createSealer(during(newKey), purpose).unseal(changed, 'prt_1'), `${at}`).toThrow();
    }
    for (const length of [0, 1, 5, 27, 33])
      expect(() =>
        createSealer(during(newKey), purpose).unseal(sealed.subarray(0, length), 'prt_1'),
      ).toThrow();
  });

  test('without a name open although their first bytes look like one', () => {
    const keyring = during(oldKey);
    const name = Buffer.from(`02${idOf(newKey)}`, 'hex');
    // The nonce is random: one in 2^40 begins like this.
    const sealer = createSealer(keyring, purpose);
    const sealed = sealWithNonce(keyring.active().derive(purpose), Buffer.concat([name, Buffer.alloc(7)]));
    expect(sealer.unseal(sealed, 'prt_1')).toEqual(secret);
  });
});

function sealWithNonce(key: KeyObject, nonce: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from('prt_1'));
  return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
}

test('a keyring does not follow a key that it does not have', () => {
  const keyring = createKeyring([oldKey]);
  expect(keyring.follow(createKeyring([newKey]).active().fingerprint)).toBe(false);
  expect(keyring.active().text).toBe(oldKey);
});
