import { randomBytes } from 'node:crypto';
import type { Keyring } from '../../db/keyring.ts';
import { purposes } from '../../db/sealed-values.ts';
import { createSealer } from '../../db/sealing.ts';

export const newSecret = () => `whsec_${randomBytes(32).toString('base64url')}`;

/** Encrypts webhook secrets under a key of its own, each bound to its partner. */
export interface Vault {
  seal(secret: string, partner: string): Buffer;
  decrypt(sealed: Buffer, partner: string): string;
}

const maxDecrypted = 10_000;

export function createVault(keyring: Keyring): Vault {
  const sealer = createSealer(keyring, purposes.webhookSecrets);
  // Decrypting costs more than signing, and the same few secrets are needed again and again.
  const decrypted = new Map<string, string>();
  return {
    seal: (secret, partner) => sealer.seal(Buffer.from(secret), partner),
    decrypt: (sealed, partner) => {
      const name = `${partner} ${sealed.toString('latin1')}`;
      const known = decrypted.get(name);
      if (known !== undefined) return known;
      const secret = sealer.unseal(sealed, partner).toString('utf8');
      if (decrypted.size >= maxDecrypted) decrypted.clear();
      decrypted.set(name, secret);
      return secret;
    },
  };
}
