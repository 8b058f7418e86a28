import { timingSafeEqual } from 'node:crypto';
import { type Clock, instantOf } from '../base/clock.ts';
import { sharedRead } from '../db/batching/index.ts';
import { commitsWithoutWaiting, listen, type Pool, type Queryable } from '../db/postgres/index.ts';
import type { Keyring } from '../db/secrets/index.ts';
import type { AccountKey } from '../ledger/index.ts';
import { isAddressAllowed } from './addresses.ts';
import { createAddressRecorder, createRecorder } from './key-addresses.ts';
import { isLimited, type KeyRights, toRights } from './key-rights.ts';
import { type ApiKey, hashKey, hashKeyId, keyIdOf } from './keys.ts';
import { type Limits, type Partner, type PartnerRow, selectPartners, toPartner } from './partners.ts';

export interface KeyHolder extends AccountKey {
  keyId: string;
  /** The owner of the partner wants bodies in the request log. */
  logsBodies?: true;
}

/** The rights of a key that may not do everything. */
export interface LimitedRights extends KeyRights {
  /** The key whose turnover of the day counts: keys that were rolled share one. */
  turnoverKey: string;
}

export type Authentication =
  | ({ outcome: 'ok'; limits: Limits; rights?: LimitedRights } & KeyHolder)
  /** The key is genuine if its holder is known. */
  | { outcome: 'unauthorized' | 'ip_not_allowed' | 'partner_suspended'; holder?: KeyHolder };

export type Authenticator = ReturnType<typeof createAuthenticator>;

interface KnownKey extends Pick<Partner, 'partnerId' | 'suspended' | 'limits'>, StoredKey {
  /** Compared at each use, so that an entry of the cache expires on time. */
  expiresMs: number;
  bodiesUntilMs: number;
  rights: LimitedRights;
  lastUsedMs: number;
  /** The key itself, once verified: comparing is cheaper than hashing. In memory only. */
  verified?: Buffer;
}

interface StoredKey extends Pick<ApiKey, 'mode' | 'allowedAddresses'> {
  hash: Buffer;
  /** The secret key under which the hash was made; null: the first of the database. */
  hashKey: string | null;
  revoked: boolean;
}

/** Upper bound for a stale entry, should a notification ever get lost. */
const cacheMs = 5_000;
/** One minute is precise enough for people and saves a write per request. */
const lastUsePrecisionMs = 60_000;

/**
 * Caches keys only while LISTEN works, and drops the whole cache at every change of access: a revocation or a
 * suspension takes effect in every process as soon as PostgreSQL has delivered the notification.
 */
export function createAuthenticator(pool: Pool, clock: Clock, keyring: Keyring, subscribe = listen) {
  const cachedKeys = new Map<string, { key: KnownKey; untilMs: number }>();
  const recordUse = createUseRecorder(pool);
  const recordAddress = createAddressRecorder(pool, clock);
  let changes = 0;
  const listener = subscribe({ pool, clock }, 'access_changed', () => {
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
    /** The partner and mode that a key stands for, or why it is refused. */
    authenticate: async (presented: { key: string; address: string }): Promise<Authentication> => {
      const keyId = keyIdOf(presented.key);
      if (!keyId) return { outcome: 'unauthorized' };
      const found = await find(keyId);
      if (!found || !isCorrectKey(keyring, presented.key, found)) return { outcome: 'unauthorized' };
      const { partnerId, mode } = found;
      const holder = { partnerId, mode, keyId };
      const now = instantOf(clock);
      if (found.revoked || now.getTime() >= found.expiresMs) return { outcome: 'unauthorized', holder };
      if (!isAddressAllowed(found.allowedAddresses, presented.address))
        return { outcome: 'ip_not_allowed', holder };
      if (found.suspended) return { outcome: 'partner_suspended', holder };
      const isOutdated = found.hashKey !== hashKeyId(keyring, keyring.active());
      if (isOutdated || now.getTime() - found.lastUsedMs >= lastUsePrecisionMs) {
        found.lastUsedMs = now.getTime();
        await recordUse({ keyId, at: now, ...(isOutdated ? hashAnew(keyring, presented.key, found) : {}) });
      }
      await recordAddress(keyId, presented.address);
      const { limits, rights, bodiesUntilMs } = found;
      return {
        ...{ outcome: 'ok', ...holder, limits, ...(isLimited(rights) ? { rights } : {}) },
        ...(now.getTime() < bodiesUntilMs ? { logsBodies: true } : {}),
      };
    },
    close: listener.close,
  };
}

/** Only the partner has the key itself, so its hash can change to another secret key only when the partner uses it. */
function hashAnew(keyring: Keyring, presented: string, known: KnownKey): Pick<KeyUse, 'hash' | 'hashKey'> {
  const secretKey = keyring.active();
  known.hash = hashKey(secretKey, presented, known.rights);
  known.hashKey = hashKeyId(keyring, secretKey);
  return { hash: known.hash, hashKey: known.hashKey };
}

/** Compares in constant time. */
function isCorrectKey(keyring: Keyring, presented: string, known: KnownKey): boolean {
  const bytes = Buffer.from(presented);
  if (known.verified) return bytes.length === known.verified.length && timingSafeEqual(bytes, known.verified);
  const secretKey = keyring.keys.find(key => hashKeyId(keyring, key) === known.hashKey);
  const isCorrect =
    secretKey !== undefined && timingSafeEqual(hashKey(secretKey, presented, known.rights), known.hash);
  if (isCorrect) known.verified = bytes;
  return isCorrect;
}

const readKey = sharedRead(async (db, keyIds: string[]): Promise<(KnownKey | undefined)[]> => {
  const { rows } = await db.query<PartnerRow & StoredKey & OtherColumns>({
    name: 'read keys',
    text: `${selectPartners}, k.id AS "keyId", k.mode, k.hash, k.hash_key AS "hashKey",
                  k.allowed_addresses AS "allowedAddresses", k.revoked_at IS NOT NULL AS revoked,
                  k.expires_at AS "expiresAt", k.scopes, k.max_kopecks AS max, k.daily_kopecks AS daily, k.turnover_of,
                  k.last_used_at AS "lastUsedAt", p.bodies_logged_until AS "bodiesUntil"
             FROM api_keys k JOIN partners p ON p.id = k.partner_id WHERE k.id = ANY ($1)`,
    values: [keyIds],
  });
  const found = new Map(rows.map(row => [row.keyId, row]));
  return keyIds.map(keyId => {
    const row = found.get(keyId);
    if (!row) return undefined;
    const { partnerId, suspended, limits } = toPartner(row);
    const { mode, hash, hashKey, allowedAddresses, revoked, scopes, max, daily } = row;
    return {
      ...{ partnerId, suspended, limits, mode, hash, hashKey, allowedAddresses, revoked },
      expiresMs: row.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
      bodiesUntilMs: row.bodiesUntil?.getTime() ?? 0,
      rights: {
        ...toRights({ scopes, maxKopecks: max, dailyKopecks: daily }),
        turnoverKey: row.turnover_of ?? keyId,
      },
      lastUsedMs: row.lastUsedAt?.getTime() ?? 0,
    };
  });
});

interface OtherColumns extends Pick<ApiKey, 'keyId' | 'expiresAt' | 'lastUsedAt'>, Pick<KeyRights, 'scopes'> {
  /** The limits of the key: those of the partner have the same names. */
  max: bigint | null;
  daily: bigint | null;
  turnover_of: string | null;
  bodiesUntil: Date | null;
}

interface KeyUse {
  keyId: string;
  at: Date;
  /** If it was made anew. */
  hash?: Buffer;
  hashKey?: string | null;
}

const createUseRecorder = (db: Queryable) =>
  createRecorder<KeyUse>(uses =>
    db.query({
      name: 'note key uses',
      // A locked row is skipped: the transaction that holds it changes the key right now, and one use may be lost.
      text: `UPDATE api_keys k SET last_used_at = u.at, hash = coalesce(u.hash, k.hash),
                      hash_key = CASE WHEN u.hash IS NULL THEN k.hash_key ELSE u.hash_key END
                 FROM (SELECT k.id, u.at, u.hash, u.hash_key
                         FROM unnest($1::text[], $2::timestamptz[], $3::bytea[], $4::text[]) AS u (id, at, hash, hash_key)
                         JOIN api_keys k USING (id)
                        ORDER BY k.id FOR UPDATE OF k SKIP LOCKED) AS u, ${commitsWithoutWaiting}
                WHERE k.id = u.id`,
      values: [
        uses.map(({ keyId }) => keyId),
        uses.map(({ at }) => at),
        uses.map(({ hash }) => hash ?? null),
        uses.map(({ hashKey }) => hashKey ?? null),
      ],
    }),
  );
