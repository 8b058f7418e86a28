import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deriveKey } from '../db/secret-key.ts';

export const newSecret = () => `whsec_${randomBytes(32).toString('base64url')}`;

/** Encrypts at rest: AES-256-GCM under a key of its own, bound to the partner, so that rows cannot be exchanged. */
export interface Vault {
  seal(secret: string, partner: string): Buffer;
  open(sealed: Buffer, partner: string): string;
}

const nonceBytes = 12;
const tagBytes = 16;
const mostOpened = 10_000;

export function createVault(secretKey: string): Vault {
  const key = deriveKey(secretKey, 'webhook secrets');
  // Opening costs more than signing, and the same few are opened over and over.
  const opened = new Map<string, string>();
  return {
    seal: (secret, partner) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(partner));
      return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    },
    open: (sealed, partner) => {
      const name = `${partner} ${sealed.toString('latin1')}`;
      const known = opened.get(name);
      if (known !== undefined) return known;
      const nonce = sealed.subarray(0, nonceBytes);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce)
        .setAAD(Buffer.from(partner))
        .setAuthTag(sealed.subarray(-tagBytes));
      const text = decipher.update(sealed.subarray(nonceBytes, -tagBytes));
      const secret = Buffer.concat([text, decipher.final()]).toString('utf8');
      if (opened.size >= mostOpened) opened.clear();
      opened.set(name, secret);
      return secret;
    },
  };
}
