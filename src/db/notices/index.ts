/**
 * The outbox of notices to partners: their kinds, writing them, and their retention. The bot sends them, in its words
 * (`src/bot/`). Events for webhooks are another outbox, in `src/webhooks/`.
 */

import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import type { Pool, Queryable } from '../postgres/index.ts';
import { keepPartitions } from '../retention/index.ts';

/**
 * The kinds of notices to partners, with the topic of each; some are written in SQL (`delivery_failed`, `sending_…`,
 * `key_new_address`). Security, which no user can mute, is what concerns keys, endpoints, members and live mode.
 */
export const topicOf = {
  delivery_failed: 'delivery',
  sending_suspended: 'sending',
  sending_re_enabled: 'sending',
  payment_in_review: 'review',
  payment_review_ended: 'review',
  balance_low: 'low',
  balance_credited: 'credited',
  deposit_seen: 'credited',
  key_created: 'security',
  key_revoked: 'security',
  key_addresses_changed: 'security',
  key_rolled: 'security',
  key_expiring: 'security',
  key_new_address: 'security',
  endpoint_added: 'security',
  endpoint_moved: 'security',
  endpoint_removed: 'security',
  endpoint_secret_rotated: 'security',
  member_joined: 'security',
  member_removed: 'security',
  member_role_changed: 'security',
  live_approved: 'security',
  live_refused: 'security',
  monthly_report: 'report',
  maintenance_planned: 'maintenance',
  maintenance_cancelled: 'maintenance',
  maintenance_on: 'maintenance',
  maintenance_off: 'maintenance',
  rate_stale: 'rate',
  rate_fresh: 'rate',
} as const;
export type NoticeKind = keyof typeof topicOf;

/** Who of a team gets notices of this kind; null: everybody. The report of a month shows all payments and balances. */
export const rolesFor = (kind: NoticeKind): string[] | null =>
  kind === 'monthly_report' ? ['owner', 'accountant'] : null;

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
