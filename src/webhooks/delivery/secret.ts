import { randomBytes } from 'node:crypto';
import { createBoundedCache } from '../../base/bounded-cache.ts';
import { createSealer, type Keyring, purposes } from '../../db/secrets/index.ts';

/**
 * Random bytes whose base64 has letters and digits only, and no padding: so the text is the same in every alphabet of base64, and
 * libraries of Standard Webhooks read it as it is shown.
 */
export function newSecret(): string {
  for (;;) {
    const text = randomBytes(33).toString('base64');
    if (/^[A-Za-z0-9]+$/.test(text)) return `whsec_${text}`;
  }
}

const maxDecrypted = 10_000;

export type Vault = ReturnType<typeof createVault>;

/** Encrypts webhook secrets under a key of its own, each bound to its owner: the partner, or a further endpoint. */
export function createVault(keyring: Keyring) {
  const sealer = createSealer(keyring, purposes.webhookSecrets);
  // Decrypting costs more than signing, and the same few secrets are needed again and again.
  const decrypted = createBoundedCache<string>(maxDecrypted);
  return {
    seal: (secret: string, owner: string) => sealer.seal(Buffer.from(secret), owner),
    decrypt: (sealed: Buffer, owner: string) => {
      const name = `${owner} ${sealed.toString('latin1')}`;
      const known = decrypted.get(name);
      if (known !== undefined) return known;
      const secret = sealer.unseal(sealed, owner).toString('utf8');
      decrypted.set(name, secret);
      return secret;
    },
  };
}
