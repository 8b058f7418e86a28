import { timingSafeEqual } from 'node:crypto';
import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, idFromUuid } from '../base/ids.ts';
import { listen } from '../db/listen.ts';
import type { Pool, Queryable } from '../db/pool.ts';
import type { Mode } from '../ledger/index.ts';
import { isAddressAllowed } from './addresses.ts';
import { hashKey, keyIdOf, keyPepper } from './keys.ts';
import { findPartner, type Limits } from './partners.ts';

export type Authentication =
  | { outcome: 'ok'; partnerId: Id<'prt'>; mode: Mode; keyId: string; limits: Limits }
  | { outcome: 'unauthorized' | 'ip_not_allowed' | 'partner_suspended' };

export interface Authenticator {
  /** Whose request this is. */
  authenticate(presented: { key: string; address: string }): Promise<Authentication>;
  close(): Promise<void>;
}

interface KnownKey {
  partnerId: Id<'prt'>;
  mode: Mode;
  hash: Buffer;
  allowedAddresses: string[];
  revoked: boolean;
  suspended: boolean;
  limits: Limits;
  lastUsedMs: number;
  /** The key itself, once it has proved genuine: comparing is cheaper than hashing. In memory only. */
  proven?: Buffer;
}

/** Even if an announcement got lost without anybody noticing, nothing is believed for longer than this. */
const rememberMs = 5_000;
/** To the minute is enough for people, and spares a write per request. */
const lastUsePrecisionMs = 60_000;

/**
 * Keys are remembered only while this process hears of changes to them, and all are forgotten at every change: a
 * revocation or a suspension takes effect in every process as fast as the database can tell.
 */
export function createAuthenticator(pool: Pool, clock: Clock, secretKey: string): Authenticator {
  const pepper = keyPepper(secretKey);
  const remembered = new Map<string, { key: KnownKey; untilMs: number }>();
  let changes = 0;
  const listener = listen(pool, 'access_changed', () => {
    changes += 1;
    remembered.clear();
  });

  async function find(keyId: string): Promise<KnownKey | undefined> {
    const entry = listener.isListening() ? remembered.get(keyId) : undefined;
    if (entry && clock.nowMs() < entry.untilMs) return entry.key;
    const changesBefore = changes;
    const key = await readKey(pool, keyId);
    // What was read before a change must not be remembered after it.
    if (key && changes === changesBefore) remembered.set(keyId, { key, untilMs: clock.nowMs() + rememberMs });
    return key;
  }

  return {
    authenticate: async presented => {
      const keyId = keyIdOf(presented.key);
      if (!keyId) return { outcome: 'unauthorized' };
      const found = await find(keyId);
      if (!found || !isGenuine(pepper, presented.key, found) || found.revoked)
        return { outcome: 'unauthorized' };
      if (!isAddressAllowed(found.allowedAddresses, presented.address)) return { outcome: 'ip_not_allowed' };
      if (found.suspended) return { outcome: 'partner_suspended' };
      await noteUse(pool, clock, keyId, found);
      return { outcome: 'ok', partnerId: found.partnerId, mode: found.mode, keyId, limits: found.limits };
    },
    close: listener.close,
  };
}

/** In a time that says nothing of where two keys differ. */
function isGenuine(pepper: Buffer, presented: string, known: KnownKey): boolean {
  const bytes = Buffer.from(presented);
  if (known.proven) return bytes.length === known.proven.length && timingSafeEqual(bytes, known.proven);
  const genuine = timingSafeEqual(hashKey(pepper, presented), known.hash);
  if (genuine) known.proven = bytes;
  return genuine;
}

async function readKey(db: Queryable, keyId: string): Promise<KnownKey | undefined> {
  const { rows } = await db.query<{
    partner_id: string;
    mode: Mode;
    hash: Buffer;
    allowed_addresses: string[];
    revoked: boolean;
    last_used_at: Date | null;
  }>({
    name: 'read key',
    text: `SELECT partner_id, mode, hash, allowed_addresses, revoked_at IS NOT NULL AS revoked, last_used_at
             FROM api_keys WHERE id = $1`,
    values: [keyId],
  });
  const [row] = rows;
  if (!row) return undefined;
  const partner = (await findPartner(db, idFromUuid('prt', row.partner_id)))!;
  return {
    partnerId: partner.partnerId,
    mode: row.mode,
    hash: row.hash,
    allowedAddresses: row.allowed_addresses,
    revoked: row.revoked,
    suspended: partner.suspended,
    limits: partner.limits,
    lastUsedMs: row.last_used_at?.getTime() ?? 0,
  };
}

async function noteUse(db: Queryable, clock: Clock, keyId: string, key: KnownKey): Promise<void> {
  const now = instantOf(clock);
  if (now.getTime() - key.lastUsedMs < lastUsePrecisionMs) return;
  key.lastUsedMs = now.getTime();
  await db.query({
    name: 'note key use',
    text: 'UPDATE api_keys SET last_used_at = $2 WHERE id = $1',
    values: [keyId, now],
  });
}
