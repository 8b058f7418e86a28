/**
 * The outbox of notices to partners: their kinds, writing them, and their retention. The bot sends them, in its words
 * (`src/bot/`). Events for webhooks are another outbox, in `src/webhooks/`.
 */

import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import type { Pool, Queryable } from '../postgres/index.ts';
import { keepPartitions } from '../retention/index.ts';

/** The kinds of notices to partners; some are written in SQL (`delivery_failed`, `sending_…`, `key_new_address`). */
export const noticeKinds = [
  'delivery_failed',
  'sending_suspended',
  'sending_re_enabled',
  'payment_in_review',
  'payment_review_ended',
  'balance_low',
  'balance_credited',
  'deposit_seen',
  'key_created',
  'key_revoked',
  'key_addresses_changed',
  'key_rolled',
  'key_expiring',
  'key_new_address',
  'endpoint_added',
  'endpoint_moved',
  'endpoint_removed',
  'endpoint_secret_rotated',
  'member_joined',
  'member_removed',
  'member_role_changed',
  'live_approved',
  'live_refused',
  'maintenance_planned',
  'maintenance_cancelled',
  'maintenance_on',
  'maintenance_off',
  'rate_stale',
  'rate_fresh',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

/**
 * Writes a notice to the outbox (`partner_notices`), from which the bot sends it. It belongs into the transaction of what
 * it is about, so that the notice is sent if and only if that happened.
 */
export async function writeNotice(
  tx: Queryable,
  clock: Clock,
  /** Null: all partners. */
  partnerId: Id<'prt'> | null,
  kind: NoticeKind,
  details: Record<string, string | number | null> = {},
): Promise<void> {
  await tx.query({
    text: 'INSERT INTO partner_notices (partner_id, kind, details, at) VALUES ($1, $2, $3, $4)',
    values: [partnerId && uuidFromId(partnerId), kind, details, instantOf(clock)],
  });
}

/** Removes notices older than thirty days, sent or not: without a bot nobody sends them, and such old news are of no use. */
export const pruneNotices = (pool: Pool, clock: Clock) =>
  keepPartitions(pool, clock, { table: 'partner_notices', since: 'at', keptDays: 30 });
