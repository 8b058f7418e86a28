import { timingSafeEqual } from 'node:crypto';
import { type Clock, instantOf } from '../base/clock.ts';
import type { Id } from '../base/ids.ts';
import { createBatcher, oneTurn } from '../db/batch.ts';
import { listen } from '../db/listen.ts';
import { mayBeOneItemsFault, type Pool, type Queryable } from '../db/pool.ts';
import { sharedRead } from '../db/shared-read.ts';
import type { Mode } from '../ledger/index.ts';
import { isAddressAllowed } from './addresses.ts';
import { hashKey, keyIdOf, keyPepper } from './keys.ts';
import { type Limits, type PartnerRow, toPartner } from './partners.ts';

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
  const noteUse = createUseRecorder(pool);
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
      const now = instantOf(clock);
      if (now.getTime() - found.lastUsedMs >= lastUsePrecisionMs) {
        found.lastUsedMs = now.getTime();
        await noteUse({ keyId, at: now });
      }
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

const readKey = sharedRead(async (db, keyIds: string[]): Promise<(KnownKey | undefined)[]> => {
  const { rows } = await db.query<
    PartnerRow & {
      key_id: string;
      mode: Mode;
      hash: Buffer;
      allowed_addresses: string[];
      revoked: boolean;
      last_used_at: Date | null;
    }
  >({
    name: 'read keys',
    text: `SELECT p.*, k.id AS key_id, k.mode, k.hash, k.allowed_addresses, k.revoked_at IS NOT NULL AS revoked,
                  k.last_used_at
             FROM api_keys k JOIN partners p ON p.id = k.partner_id WHERE k.id = ANY ($1)`,
    values: [keyIds],
  });
  const found = new Map(rows.map(row => [row.key_id, row]));
  return keyIds.map(keyId => {
    const row = found.get(keyId);
    if (!row) return undefined;
    const { partnerId, suspended, limits } = toPartner(row);
    return {
      partnerId,
      mode: row.mode,
      hash: row.hash,
      allowedAddresses: row.allowed_addresses,
      revoked: row.revoked,
      suspended,
      limits,
      lastUsedMs: row.last_used_at?.getTime() ?? 0,
    };
  });
});

interface Use {
  keyId: string;
  at: Date;
}

const createUseRecorder = (db: Queryable) =>
  createBatcher<Use, true>({
    mayBeOneItemsFault,
    laneOf: () => 0,
    maxBatch: 256,
    maxWaiting: 5_000,
    gather: oneTurn,
    run: async uses => {
      await db.query({
        name: 'note key uses',
        // Nobody waits for the row of another key: whoever changes it just now uses it, too.
        text: `UPDATE api_keys k SET last_used_at = u.at
                 FROM (SELECT k.id, u.at FROM unnest($1::text[], $2::timestamptz[]) AS u (id, at) JOIN api_keys k USING (id)
                        ORDER BY k.id FOR UPDATE OF k SKIP LOCKED) AS u
                WHERE k.id = u.id`,
        values: [uses.map(({ keyId }) => keyId), uses.map(({ at }) => at)],
      });
      return uses.map(() => true as const);
    },
  });
