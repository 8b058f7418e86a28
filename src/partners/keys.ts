import { createHmac, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit.ts';
import { writeNotice } from '../db/notices.ts';
import { type Queryable, transaction } from '../db/pool.ts';
import { deriveKey } from '../db/secret-key.ts';
import type { Mode } from '../ledger/index.ts';
import { lockPartner } from './partners.ts';

/** 48 random bits name the key, 192 more are its secret: `svc_test_<12 hex>_<48 hex>`. */
const idBytes = 6;
const secretBytes = 24;
const keyPattern = /^svc_(?:live|test)_([0-9a-f]{12})_[0-9a-f]{48}$/;

export interface ApiKey {
  keyId: string;
  partnerId: Id<'prt'>;
  mode: Mode;
  allowedAddresses: string[];
  createdAt: Date;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
}

/** The public part of a key; undefined for text that cannot be a key. */
export const keyIdOf = (key: string) => keyPattern.exec(key)?.[1];

export const keyPepper = (secretKey: string) => deriveKey(secretKey, 'api keys');

/** Peppered: with a stolen database alone, guesses cannot be tested. */
export const hashKey = (pepper: Buffer, key: string) => createHmac('sha256', pepper).update(key).digest();

export type KeyCreation =
  | { outcome: 'created'; apiKey: ApiKey; key: string }
  | { outcome: 'no_partner' | 'partner_suspended' | 'not_approved' };

/** Returns the key once; only its hash is stored. */
export function createKey(
  audit: AuditContext,
  secretKey: string,
  wanted: { partnerId: Id<'prt'>; mode: Mode; allowedAddresses: string[] },
): Promise<KeyCreation> {
  return transaction(audit.pool, async tx => {
    const partner = await lockPartner(tx, wanted.partnerId);
    if (!partner) return { outcome: 'no_partner' };
    if (partner.suspended) return { outcome: 'partner_suspended' };
    if (wanted.mode === 'live' && !partner.liveApproved) return { outcome: 'not_approved' };
    const keyId = randomBytes(idBytes).toString('hex');
    const key = `svc_${wanted.mode}_${keyId}_${randomBytes(secretBytes).toString('hex')}`;
    const createdAt = instantOf(audit.clock);
    await tx.query({
      text: `INSERT INTO api_keys (id, partner_id, mode, hash, allowed_addresses, created_at)
             VALUES ($1, $2, $3, $4, $5, $6)`,
      values: [
        keyId,
        uuidFromId(wanted.partnerId),
        wanted.mode,
        hashKey(keyPepper(secretKey), key),
        wanted.allowedAddresses,
        createdAt,
      ],
    });
    await recordChange(tx, audit, { action: 'key.create', subject: keyId, after: wanted });
    await notifyTeam(tx, audit, 'key_created', { keyId, ...wanted });
    return {
      outcome: 'created',
      key,
      apiKey: { keyId, ...wanted, createdAt, revokedAt: null, lastUsedAt: null },
    };
  });
}

interface KeyRow {
  id: string;
  partner_id: string;
  mode: Mode;
  allowed_addresses: string[];
  created_at: Date;
  revoked_at: Date | null;
  last_used_at: Date | null;
}

const toKey = (row: KeyRow): ApiKey => ({
  keyId: row.id,
  partnerId: idFromUuid('prt', row.partner_id),
  mode: row.mode,
  allowedAddresses: row.allowed_addresses,
  createdAt: row.created_at,
  revokedAt: row.revoked_at,
  lastUsedAt: row.last_used_at,
});

export async function listKeys(db: Queryable, partnerId: Id<'prt'>): Promise<ApiKey[]> {
  const { rows } = await db.query<KeyRow>({
    text: 'SELECT * FROM api_keys WHERE partner_id = $1 ORDER BY created_at, id',
    values: [uuidFromId(partnerId)],
  });
  return rows.map(toKey);
}

/** The whole team is notified, since all of them are responsible for the balance. */
const notifyTeam = (
  tx: Queryable,
  { clock, actor }: AuditContext,
  kind: 'key_created' | 'key_revoked' | 'key_addresses_changed',
  { keyId, partnerId, mode }: Pick<ApiKey, 'keyId' | 'partnerId' | 'mode'>,
) => writeNotice(tx, clock, partnerId, kind, { key_id: keyId, mode, actor });

async function lockKey(tx: Queryable, keyId: string): Promise<ApiKey | undefined> {
  const { rows } = await tx.query<KeyRow>({
    text: 'SELECT * FROM api_keys WHERE id = $1 FOR UPDATE',
    values: [keyId],
  });
  return rows[0] && toKey(rows[0]);
}

export type KeyRevocation =
  | { outcome: 'revoked' | 'already_revoked'; apiKey: ApiKey }
  | { outcome: 'no_key' };

/** Takes effect at once in every process, through a PostgreSQL notification. */
export function revokeKey(audit: AuditContext, keyId: string): Promise<KeyRevocation> {
  return transaction(audit.pool, async tx => {
    const apiKey = await lockKey(tx, keyId);
    if (!apiKey) return { outcome: 'no_key' };
    if (apiKey.revokedAt) return { outcome: 'already_revoked', apiKey };
    const revokedAt = instantOf(audit.clock);
    await tx.query({ text: 'UPDATE api_keys SET revoked_at = $2 WHERE id = $1', values: [keyId, revokedAt] });
    await recordChange(tx, audit, {
      action: 'key.revoke',
      subject: keyId,
      before: { revokedAt: null },
      after: { revokedAt },
    });
    await notifyTeam(tx, audit, 'key_revoked', apiKey);
    return { outcome: 'revoked', apiKey: { ...apiKey, revokedAt } };
  });
}

export type AddressChange =
  | { outcome: 'changed' | 'same_addresses' | 'already_revoked'; apiKey: ApiKey }
  | { outcome: 'no_key' };

/** An empty list allows every address. Takes effect at once in every process. */
export function setAllowedAddresses(
  audit: AuditContext,
  keyId: string,
  allowedAddresses: string[],
): Promise<AddressChange> {
  return transaction(audit.pool, async tx => {
    const apiKey = await lockKey(tx, keyId);
    if (!apiKey) return { outcome: 'no_key' };
    if (apiKey.revokedAt) return { outcome: 'already_revoked', apiKey };
    if (isDeepStrictEqual(apiKey.allowedAddresses, allowedAddresses))
      return { outcome: 'same_addresses', apiKey };
    await tx.query({
      text: 'UPDATE api_keys SET allowed_addresses = $2 WHERE id = $1',
      values: [keyId, allowedAddresses],
    });
    await recordChange(tx, audit, {
      action: 'key.allow',
      subject: keyId,
      before: { allowedAddresses: apiKey.allowedAddresses },
      after: { allowedAddresses },
    });
    await notifyTeam(tx, audit, 'key_addresses_changed', apiKey);
    return { outcome: 'changed', apiKey: { ...apiKey, allowedAddresses } };
  });
}
