import { randomBytes } from 'node:crypto';
import { createBoundedCache } from '../../base/bounded-cache.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { findRow, type Queryable } from '../../db/postgres/index.ts';
import { createSealer, type Keyring, purposes } from '../../db/secrets/index.ts';
import { type EndpointRef, firstEndpointOf, subjectOf } from '../first-endpoint.ts';

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

export interface SecretRow {
  secret: Buffer;
  old_secret: Buffer | null;
  old_secret_until: Date | null;
}

/** The secrets in force, the newest first. */
export function decryptSecrets(vault: Vault, endpoint: EndpointRef, row: SecretRow, nowMs: number): string[] {
  const open = (sealed: Buffer) => vault.decrypt(sealed, subjectOf(endpoint));
  const isOldInForce = row.old_secret !== null && row.old_secret_until!.getTime() > nowMs;
  return [open(row.secret), ...(isOldInForce ? openIfPossible(open, row.old_secret!) : [])];
}

/** A secret that cannot be opened is replaced by a forced rotation, which leaves it behind as the old one. */
function openIfPossible(open: (sealed: Buffer) => string, sealed: Buffer): string[] {
  try {
    return [open(sealed)];
  } catch {
    return [];
  }
}

export async function readSecrets(
  db: Queryable,
  vault: Vault,
  partnerId: Id<'prt'>,
  nowMs: number,
  endpointId: Id<'whe'> = firstEndpointOf(partnerId),
): Promise<string[]> {
  const row = await findRow<SecretRow>(db, {
    text: `SELECT secret, old_secret, old_secret_until FROM endpoints WHERE partner_id = $1 AND endpoint_id = $2`,
    values: [uuidFromId(partnerId), uuidFromId(endpointId)],
  });
  return row ? decryptSecrets(vault, { partnerId, endpointId }, row, nowMs) : [];
}
