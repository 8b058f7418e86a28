import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, idFromUuid } from '../base/ids.ts';
import type { Queryable } from '../db/pool.ts';
import type { Mode } from '../ledger/index.ts';
import { isAddressAllowed } from './addresses.ts';
import { hashKey, keyIdOf, sameHash } from './keys.ts';

export type Authentication =
  | { outcome: 'ok'; partnerId: Id<'prt'>; mode: Mode; keyId: string }
  | { outcome: 'unauthorized' | 'ip_not_allowed' | 'partner_suspended' };

/** Whose request this is. Reads the key's row every time, so a revocation counts from the moment it is committed. */
export async function authenticate(
  db: Queryable,
  clock: Clock,
  secretKey: string,
  presented: { key: string; address: string },
): Promise<Authentication> {
  const keyId = keyIdOf(presented.key);
  if (!keyId) return { outcome: 'unauthorized' };
  const { rows } = await db.query<{
    partner_id: string;
    mode: Mode;
    hash: Buffer;
    allowed_addresses: string[];
    revoked: boolean;
    suspended: boolean;
    last_used_at: Date | null;
  }>({
    name: 'authenticate',
    text: `SELECT k.partner_id, k.mode, k.hash, k.allowed_addresses, k.revoked_at IS NOT NULL AS revoked,
                  p.suspended, k.last_used_at
             FROM api_keys k JOIN partners p ON p.id = k.partner_id WHERE k.id = $1`,
    values: [keyId],
  });
  const found = rows[0];
  const genuine = sameHash(hashKey(secretKey, presented.key), found?.hash);
  if (!found || !genuine || found.revoked) return { outcome: 'unauthorized' };
  if (!isAddressAllowed(found.allowed_addresses, presented.address)) return { outcome: 'ip_not_allowed' };
  if (found.suspended) return { outcome: 'partner_suspended' };
  await noteUse(db, clock, keyId, found.last_used_at);
  return { outcome: 'ok', partnerId: idFromUuid('prt', found.partner_id), mode: found.mode, keyId };
}

/** To the minute is enough for people, and spares a write per request. */
const lastUsePrecisionMs = 60_000;

async function noteUse(db: Queryable, clock: Clock, keyId: string, lastUsedAt: Date | null): Promise<void> {
  const now = instantOf(clock);
  if (lastUsedAt && now.getTime() - lastUsedAt.getTime() < lastUsePrecisionMs) return;
  await db.query({
    name: 'note key use',
    text: 'UPDATE api_keys SET last_used_at = $2 WHERE id = $1',
    values: [keyId, now],
  });
}
