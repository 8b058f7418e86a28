import { type Clock, instantOf } from '../base/clock.ts';
import { type AuditContext, recordChange } from '../db/audit/index.ts';
import { writeNotice } from '../db/notices/index.ts';
import { type Queryable, transaction } from '../db/postgres/index.ts';
import type { Keyring } from '../db/secrets/index.ts';
import { noticedDays } from './key-expiries.ts';
import { countKeys, maxRolledKeys, takeKeyChange } from './key-maximum.ts';
import * as keys from './keys.ts';

/** How long the old key may stay valid. */
export const maxOverlapMs = 7 * 86_400_000;

export type KeyRoll =
  | { outcome: 'rolled'; key: string; apiKey: keys.ApiKey; old: keys.ApiKey; before: keys.ApiKey }
  | { outcome: keys.KeyRefusal | 'no_key' | 'already_revoked' | 'already_expired' | 'already_rolled' }
  | { outcome: 'overlap_too_long' | 'too_many_rolled_keys' | 'too_many_key_changes' };

/**
 * A new key with the same rights, addresses, label and lifetime, at once; the old one ends after the overlap. Both count into
 * the same turnover of the day, so a roll gives no second daily limit.
 */
export const rollKey = (
  audit: AuditContext,
  keyring: Keyring,
  keyId: string,
  overlapMs: number,
): Promise<KeyRoll> =>
  transaction(audit.pool, async tx => {
    if (overlapMs > maxOverlapMs) return { outcome: 'overlap_too_long' };
    const found = await keys.findKeyRow(tx, keyId);
    if (!found) return { outcome: 'no_key' };
    // The partner is locked before its keys.
    const refusal = await keys.findRefusal(tx, keys.toKey(found));
    if (refusal) return { outcome: refusal };
    const row = (await keys.lockKeyRow(tx, keyId))!;
    const before = keys.toKey(row);
    const state = keys.keyState(before, audit.clock);
    if (state !== 'active') return { outcome: state === 'revoked' ? 'already_revoked' : 'already_expired' };
    if (before.rolledTo) return { outcome: 'already_rolled' };
    // A roll without an overlap ends a key that may be stolen: it is always possible.
    if (overlapMs > 0) {
      const { rolled } = await countKeys(tx, audit.clock, before);
      if (rolled >= maxRolledKeys) return { outcome: 'too_many_rolled_keys' };
      if (!(await takeKeyChange(tx, audit, before))) return { outcome: 'too_many_key_changes' };
    }

    // As it is under the lock: its addresses may have been restricted since it was found.
    const { partnerId, mode, allowedAddresses, label, rights, createdAt, expiresAt: oldEnd } = before;
    const now = instantOf(audit.clock);
    const expiresAt = oldEnd && new Date(now.getTime() + oldEnd.getTime() - createdAt.getTime());
    const wanted = { partnerId, mode, allowedAddresses, label, rights, expiresAt };
    const { key, apiKey } = await keys.insertKey(tx, audit, keyring, wanted, row.turnover_of ?? keyId);
    const chosenEnd = new Date(now.getTime() + overlapMs);
    const endsAt = before.expiresAt && before.expiresAt < chosenEnd ? before.expiresAt : chosenEnd;
    await endKey(tx, audit.clock, keyId, { expiresAt: endsAt, rolledTo: apiKey.keyId });
    await recordChange(tx, audit, {
      action: 'key.roll',
      subject: keyId,
      before: { expiresAt: before.expiresAt },
      after: { expiresAt: endsAt, rolledTo: apiKey.keyId },
    });
    await recordChange(tx, audit, {
      action: 'key.create',
      subject: apiKey.keyId,
      after: keys.chosenOf(wanted),
    });
    const details = { key_id: keyId, new_key_id: apiKey.keyId, mode, actor: audit.actor };
    await writeNotice(tx, audit.clock, partnerId, 'key_rolled', {
      ...details,
      ends_at: endsAt.toISOString(),
    });
    const old = { ...before, expiresAt: endsAt, rolledTo: apiKey.keyId };
    return { outcome: 'rolled', key, apiKey, old, before };
  });

/** For a new key that nobody may have seen: it is revoked, and the old one stays valid as before. */
export const undoRoll = (
  audit: AuditContext,
  { apiKey, before }: { apiKey: keys.ApiKey; before: keys.ApiKey },
): Promise<void> =>
  transaction(audit.pool, async tx => {
    const row = await keys.lockKeyRow(tx, before.keyId);
    await keys.revokeKeyIn(tx, audit, apiKey.keyId);
    if (row?.rolledTo !== apiKey.keyId) return;
    await endKey(tx, audit.clock, before.keyId, { expiresAt: before.expiresAt, rolledTo: null });
    await recordChange(tx, audit, {
      action: 'key.undo_roll',
      subject: before.keyId,
      before: { expiresAt: row.expiresAt, rolledTo: apiKey.keyId },
      after: { expiresAt: before.expiresAt, rolledTo: null },
      isRemoval: true,
    });
  });

const endKey = (
  tx: Queryable,
  clock: Clock,
  keyId: string,
  end: { expiresAt: Date | null; rolledTo: string | null },
) =>
  tx.query({
    text: 'UPDATE api_keys SET expires_at = $2, expiry_noticed_days = $3, rolled_to = $4 WHERE id = $1',
    values: [keyId, end.expiresAt, noticedDays(end.expiresAt, clock), end.rolledTo],
  });
