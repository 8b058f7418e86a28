import { type Id, uuidFromId } from '../../base/ids.ts';
import { findRow, type Queryable } from '../../db/postgres/index.ts';
import type { Vault } from '../delivery/secret.ts';
import { type EndpointRef, firstEndpointOf, subjectOf } from '../first-endpoint.ts';

interface SecretRow {
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
