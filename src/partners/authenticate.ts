import { timingSafeEqual } from 'node:crypto';
import { type Clock, instantOf } from '../base/clock.ts';
import type { Id } from '../base/ids.ts';
import { createBatcher, nextLoopTurn } from '../db/batch.ts';
import { listen } from '../db/listen.ts';
import { isItemError, type Pool, type Queryable } from '../db/pool.ts';
import { sharedRead } from '../db/shared-read.ts';
import { commitsWithoutWaiting } from '../db/unawaited-commit.ts';
import type { Mode } from '../ledger/index.ts';
import { isAddressAllowed } from './addresses.ts';
import { hashKey, keyIdOf, keyPepper } from './keys.ts';
import { type Limits, type PartnerRow, toPartner } from './partners.ts';

export interface KeyHolder {
  partnerId: Id<'prt'>;
  mode: Mode;
  keyId: string;
}

export type Authentication =
  | ({ outcome: 'ok'; limits: Limits } & KeyHolder)
  /** The key is genuine if its holder is known. */
  | { outcome: 'unauthorized' | 'ip_not_allowed' | 'partner_suspended'; holder?: KeyHolder };

export interface Authenticator {
  /** The partner and mode that a key stands for, or why it is refused. */
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
  /** The key itself, once verified: comparing is cheaper than hashing. In memory only. */
  verified?: Buffer;
}

/** Upper bound for a stale entry, should a notification ever get lost. */
const cacheMs = 5_000;
/** One minute is precise enough for people and saves a write per request. */
const lastUsePrecisionMs = 60_000;

/**
 * Caches keys only while LISTEN works, and drops the whole cache at every change of access: a revocation or a
 * suspension takes effect in every process as soon as PostgreSQL has delivered the notification.
 */
export function createAuthenticator(pool: Pool, clock: Clock, secretKey: string): Authenticator {
  const pepper = keyPepper(secretKey);
  const cachedKeys = new Map<string, { key: KnownKey; untilMs: number }>();
  const recordUse = createUseRecorder(pool);
  let changes = 0;
  const listener = listen(pool, 'access_changed', () => {
    changes += 1;
    cachedKeys.clear();
  });

  async function find(keyId: string): Promise<KnownKey | undefined> {
    const entry = listener.isListening() ? cachedKeys.get(keyId) : undefined;
    if (entry && clock.monotonicMs() < entry.untilMs) return entry.key;
    const changesBefore = changes;
    const key = await readKey(pool, keyId);
    // What was read before a change must not be cached after it.
    if (key && changes === changesBefore)
      cachedKeys.set(keyId, { key, untilMs: clock.monotonicMs() + cacheMs });
    return key;
  }

  return {
    authenticate: async presented => {
      const keyId = keyIdOf(presented.key);
      if (!keyId) return { outcome: 'unauthorized' };
      const found = await find(keyId);
      if (!found || !isCorrectKey(pepper, presented.key, found)) return { outcome: 'unauthorized' };
      const holder = { partnerId: found.partnerId, mode: found.mode, keyId };
      if (found.revoked) return { outcome: 'unauthorized', holder };
      if (!isAddressAllowed(found.allowedAddresses, presented.address))
        return { outcome: 'ip_not_allowed', holder };
      if (found.suspended) return { outcome: 'partner_suspended', holder };
      const now = instantOf(clock);
      if (now.getTime() - found.lastUsedMs >= lastUsePrecisionMs) {
        found.lastUsedMs = now.getTime();
        await recordUse({ keyId, at: now });
      }
      return { outcome: 'ok', ...holder, limits: found.limits };
    },
    close: listener.close,
  };
}

/** Compares in constant time. */
function isCorrectKey(pepper: Buffer, presented: string, known: KnownKey): boolean {
  const bytes = Buffer.from(presented);
  if (known.verified) return bytes.length === known.verified.length && timingSafeEqual(bytes, known.verified);
  const isCorrect = timingSafeEqual(hashKey(pepper, presented), known.hash);
  if (isCorrect) known.verified = bytes;
  return isCorrect;
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
    text: `SELECT p.id, p.name, p.suspended, p.live_approved, p.created_at, p.min_kopecks, p.max_kopecks, p.daily_kopecks,
                  p.concurrent, p.create_rps, p.create_burst, p.other_rps, k.id AS key_id, k.mode, k.hash, k.allowed_addresses, k.revoked_at IS NOT NULL AS revoked,
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

interface KeyUse {
  keyId: string;
  at: Date;
}

const createUseRecorder = (db: Queryable) =>
  createBatcher<KeyUse, true>({
    isItemError,
    maxBatch: 256,
    maxWaiting: 5_000,
    gather: nextLoopTurn,
    run: async uses => {
      await db.query({
        name: 'note key uses',
        // A locked row is skipped: the transaction that holds it changes the key right now, and one use may be lost.
        text: `UPDATE api_keys k SET last_used_at = u.at
                 FROM (SELECT k.id, u.at FROM unnest($1::text[], $2::timestamptz[]) AS u (id, at) JOIN api_keys k USING (id)
                        ORDER BY k.id FOR UPDATE OF k SKIP LOCKED) AS u, ${commitsWithoutWaiting}
                WHERE k.id = u.id`,
        values: [uses.map(({ keyId }) => keyId), uses.map(({ at }) => at)],
      });
      return uses.map(() => true as const);
    },
  });
