import { createHmac, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Clock, instantOf } from '../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../base/ids.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { writeNotice } from '../db/notices/index.ts';
import { findRow, type Queryable, readRows, transaction } from '../db/postgres/index.ts';
import type { Keyring, SecretKey } from '../db/secrets/index.ts';
import type { AccountKey } from '../ledger/index.ts';
import { isNarrower } from './addresses.ts';
import { noticedDays } from './key-expiries.ts';
import { countKeys, maxActiveKeys, takeKeyChange } from './key-maximum.ts';
import { allRights, isLimited, type KeyRights, rightsColumns, rightsObject, toRights } from './key-rights.ts';
import { lockPartner } from './partners.ts';

/** 48 random bits name the key, 192 more are its secret: `svc_test_<12 hex>_<48 hex>`. */
const idBytes = 6;
const secretBytes = 24;
const keyPattern = /^svc_(?:live|test)_([0-9a-f]{12})_[0-9a-f]{48}$/;

export interface ApiKey extends AccountKey {
  keyId: string;
  allowedAddresses: string[];
  /** What people call it. */
  label: string | null;
  rights: KeyRights;
  createdAt: Date;
  /** From then on it is refused like a revoked key. */
  expiresAt: Date | null;
  /** The key that takes its place, if it was rolled. */
  rolledTo: string | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
}

export type KeyState = 'active' | 'revoked' | 'expired';

export function keyState({ revokedAt, expiresAt }: ApiKey, clock: Clock): KeyState {
  if (revokedAt) return 'revoked';
  return expiresAt && expiresAt <= instantOf(clock) ? 'expired' : 'active';
}

/** A key as the console and the command line show it. */
export const keyObject = (key: ApiKey, clock: Clock) => ({
  key_id: key.keyId,
  label: key.label,
  mode: key.mode,
  state: keyState(key, clock),
  ...rightsObject(key.rights),
  allowed_addresses: key.allowedAddresses,
  created_at: key.createdAt.toISOString(),
  expires_at: key.expiresAt?.toISOString() ?? null,
  rolled_to: key.rolledTo,
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
});

/** The public part of a key; undefined for text that cannot be a key. */
export const keyIdOf = (key: string) => keyPattern.exec(key)?.[1];

/**
 * Peppered: with a stolen database alone, guesses cannot be tested. The hash of a limited key is made with another pepper: a
 * process of a version that knows no limits refuses such a key.
 */
export const hashKey = (secretKey: SecretKey, key: string, rights: KeyRights) =>
  createHmac('sha256', secretKey.derive(isLimited(rights) ? 'limited api keys' : 'api keys'))
    .update(key)
    .digest();

/** As it is stored: NULL means the first key of the database. */
export const hashKeyId = (keyring: Keyring, key: SecretKey) => (keyring.isFirst(key) ? null : key.id);

export interface WantedKey extends AccountKey {
  allowedAddresses: string[];
  label?: string | null;
  /** Default: all. */
  rights?: KeyRights;
  /** Default: never. */
  expiresAt?: Date | null;
}

/** Why a partner gets no key of a mode. */
export type KeyRefusal = 'no_partner' | 'partner_suspended' | 'not_approved';

export type KeyCreation =
  | { outcome: 'created'; apiKey: ApiKey; key: string }
  | { outcome: KeyRefusal | 'expiry_passed' | 'too_many_keys' | 'too_many_key_changes' };

/** Returns the key once; only its hash is stored. */
export const createKey = (audit: AuditContext, keyring: Keyring, wanted: WantedKey): Promise<KeyCreation> =>
  transaction(audit.pool, async tx => {
    const refusal = await findRefusal(tx, wanted);
    if (refusal) return { outcome: refusal };
    if (wanted.expiresAt && wanted.expiresAt <= instantOf(audit.clock)) return { outcome: 'expiry_passed' };
    const { active } = await countKeys(tx, audit.clock, wanted);
    if (active >= maxActiveKeys) return { outcome: 'too_many_keys' };
    if (!(await takeKeyChange(tx, audit, wanted))) return { outcome: 'too_many_key_changes' };
    const { key, apiKey } = await insertKey(tx, audit, keyring, wanted);
    await recordChange(tx, audit, { action: 'key.create', subject: apiKey.keyId, after: chosenOf(wanted) });
    await notifyTeam(tx, audit, 'key_created', apiKey);
    return { outcome: 'created', key, apiKey };
  });

/** For the audit log: what was chosen. */
export const chosenOf = ({ partnerId, mode, allowedAddresses, label, rights, expiresAt }: WantedKey) => ({
  partnerId,
  mode,
  allowedAddresses,
  ...(label ? { label } : {}),
  ...(rights && isLimited(rights) ? rights : {}),
  ...(expiresAt ? { expiresAt } : {}),
});

/** The row of the partner stays locked: it is not suspended meanwhile. */
export async function findRefusal(
  tx: Queryable,
  { partnerId, mode }: AccountKey,
): Promise<KeyRefusal | undefined> {
  const partner = await lockPartner(tx, partnerId);
  if (!partner) return 'no_partner';
  if (partner.suspended) return 'partner_suspended';
  return mode === 'live' && !partner.liveApproved ? 'not_approved' : undefined;
}

/** `turnoverOf`: the key whose daily turnover it continues. */
export async function insertKey(
  tx: Queryable,
  { clock }: AuditContext,
  keyring: Keyring,
  wanted: WantedKey,
  turnoverOf: string | null = null,
): Promise<{ key: string; apiKey: ApiKey }> {
  const { partnerId, mode, allowedAddresses, label = null, rights = allRights, expiresAt = null } = wanted;
  const keyId = randomBytes(idBytes).toString('hex');
  const key = `svc_${mode}_${keyId}_${randomBytes(secretBytes).toString('hex')}`;
  const createdAt = instantOf(clock);
  const secretKey = keyring.active();
  await tx.query({
    text: `INSERT INTO api_keys (id, partner_id, mode, hash, hash_key, allowed_addresses, label, scopes, max_kopecks,
                                 daily_kopecks, created_at, expires_at, expiry_noticed_days, turnover_of)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    values: [
      ...[keyId, uuidFromId(partnerId), mode, hashKey(secretKey, key, rights), hashKeyId(keyring, secretKey)],
      ...[allowedAddresses, label, rights.scopes, rights.maxKopecks, rights.dailyKopecks],
      ...[createdAt, expiresAt, noticedDays(expiresAt, clock), turnoverOf],
    ],
  });
  const created = { keyId, partnerId, mode, allowedAddresses, label, rights, createdAt, expiresAt };
  return { key, apiKey: { ...created, rolledTo: null, revokedAt: null, lastUsedAt: null } };
}

interface KeyRow extends KeyRights, Omit<ApiKey, 'keyId' | 'partnerId' | 'rights'> {
  id: string;
  partner_id: string;
  turnover_of: string | null;
}

const selectKeys = `
  SELECT k.id, k.partner_id, k.mode, k.allowed_addresses AS "allowedAddresses", k.label, ${rightsColumns},
         k.created_at AS "createdAt", k.expires_at AS "expiresAt", k.rolled_to AS "rolledTo", k.turnover_of,
         k.revoked_at AS "revokedAt", k.last_used_at AS "lastUsedAt"
    FROM api_keys k`;

export function toKey({ id, partner_id, turnover_of: _, ...row }: KeyRow): ApiKey {
  const { scopes, maxKopecks, dailyKopecks, ...key } = row;
  const rights = toRights({ scopes, maxKopecks, dailyKopecks });
  return { ...key, keyId: id, partnerId: idFromUuid('prt', partner_id), rights };
}

export async function listKeys(db: Queryable, partnerId: Id<'prt'>): Promise<ApiKey[]> {
  const rows = await readRows<KeyRow>(db, {
    text: `${selectKeys} WHERE k.partner_id = $1 ORDER BY k.created_at, k.id`,
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

export const findKeyRow = (db: Queryable, keyId: string, lock: 'FOR UPDATE' | '' = '') =>
  findRow<KeyRow>(db, { text: `${selectKeys} WHERE k.id = $1 ${lock}`, values: [keyId] });

/** The row is locked until the transaction ends. */
export const lockKeyRow = (tx: Queryable, keyId: string) => findKeyRow(tx, keyId, 'FOR UPDATE');

async function lockKey(tx: Queryable, keyId: string): Promise<ApiKey | undefined> {
  const row = await lockKeyRow(tx, keyId);
  return row && toKey(row);
}

export type KeyRevocation =
  | { outcome: 'revoked' | 'already_revoked'; apiKey: ApiKey }
  | { outcome: 'no_key' };

/** Takes effect at once in every process, through a PostgreSQL notification. */
export const revokeKey = (audit: AuditContext, keyId: string): Promise<KeyRevocation> =>
  transaction(audit.pool, tx => revokeKeyIn(tx, audit, keyId));

export async function revokeKeyIn(tx: Queryable, audit: AuditContext, keyId: string): Promise<KeyRevocation> {
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
    isRemoval: true,
  });
  await notifyTeam(tx, audit, 'key_revoked', apiKey);
  return { outcome: 'revoked', apiKey: { ...apiKey, revokedAt } };
}

export type AddressChange =
  | { outcome: 'changed' | 'same_addresses' | 'already_revoked' | 'too_many_key_changes'; apiKey: ApiKey }
  | { outcome: 'no_key' };

/** An empty list allows every address. Takes effect at once in every process. */
export const setAllowedAddresses = (
  audit: AuditContext,
  keyId: string,
  allowedAddresses: string[],
): Promise<AddressChange> =>
  transaction(audit.pool, async tx => {
    const apiKey = await lockKey(tx, keyId);
    if (!apiKey) return { outcome: 'no_key' };
    if (apiKey.revokedAt) return { outcome: 'already_revoked', apiKey };
    if (isDeepStrictEqual(apiKey.allowedAddresses, allowedAddresses))
      return { outcome: 'same_addresses', apiKey };
    // Restricting a key must not wait until tomorrow.
    if (!isNarrower(allowedAddresses, apiKey.allowedAddresses) && !(await takeKeyChange(tx, audit, apiKey)))
      return { outcome: 'too_many_key_changes', apiKey };
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
