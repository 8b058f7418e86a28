import { clearAlarmsOf } from '../../alarms/index.ts';
import { instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit.ts';
import { type Queryable, transaction } from '../../db/pool.ts';
import { enterShardOf } from '../../db/shards/sessions.ts';
import { newSecret, type Vault } from '../delivery/secret.ts';

/** Where a partner receives the events of its payments. */
export interface Webhook {
  partnerId: Id<'prt'>;
  url: string;
  state: 'active' | 'suspended';
  suspendedAt: Date | null;
  /** The last attempt failed, and only after a long time. */
  hanging: boolean;
  /** Events still to be sent. */
  waiting: number;
  /** Events whose attempts have all failed. */
  givenUp: number;
  oldSecretUntil: Date | null;
  changedAt: Date;
  /** Kinds of events beyond those of the contract that it gets. */
  extraEvents: ExtraEvent[];
}

export type ExtraEvent = 'payment.refunded';

interface WebhookRow {
  url: string;
  suspended_at: Date | null;
  hanging: boolean;
  waiting: number;
  given_up: number;
  old_secret_until: Date | null;
  changed_at: Date;
  extra_events: ExtraEvent[];
}

export async function findWebhook(db: Queryable, partnerId: Id<'prt'>): Promise<Webhook | undefined> {
  const { rows } = await db.query<WebhookRow>({
    text: `SELECT w.url, w.suspended_at, w.hanging, w.old_secret_until, w.changed_at, w.extra_events,
                  count(d) FILTER (WHERE d.failed_at IS NULL)::int AS waiting,
                  count(d.failed_at)::int AS given_up
             FROM webhooks w LEFT JOIN deliveries d ON d.partner_id = w.partner_id
            WHERE w.partner_id = $1 GROUP BY w.partner_id, w.url, w.suspended_at, w.hanging, w.old_secret_until, w.changed_at, w.extra_events`,
    values: [uuidFromId(partnerId)],
  });
  const [row] = rows;
  return (
    row && {
      partnerId,
      url: row.url,
      state: row.suspended_at ? 'suspended' : 'active',
      suspendedAt: row.suspended_at,
      hanging: row.hanging,
      waiting: row.waiting,
      givenUp: row.given_up,
      oldSecretUntil: row.old_secret_until,
      changedAt: row.changed_at,
      extraEvents: row.extra_events,
    }
  );
}

/** Sets a URL that has been checked; the first time it also makes a secret. A suspension stays: a check ends it. */
export function setWebhook(
  audit: AuditContext,
  vault: Vault,
  partnerId: Id<'prt'>,
  url: string,
): Promise<void> {
  return transaction(audit.pool, async tx => {
    await enterShardOf(tx, uuidFromId(partnerId));
    const before = await findWebhook(tx, partnerId);
    const sealed = vault.seal(newSecret(), partnerId);
    await tx.query({
      text: `INSERT INTO webhooks (partner_id, url, secret, created_at, changed_at) VALUES ($1, $2, $3, $4, $4)
             ON CONFLICT (partner_id) DO UPDATE
               SET url = excluded.url, changed_at = excluded.changed_at,
                   given_up = CASE WHEN webhooks.url = excluded.url THEN webhooks.given_up ELSE 0 END`,
      values: [uuidFromId(partnerId), url, sealed, instantOf(audit.clock)],
    });
    await recordChange(tx, audit, {
      action: 'webhook.set',
      subject: partnerId,
      before: before && { url: before.url },
      after: { url },
    });
  });
}

/** Events of these kinds are sent from now on; all others of theirs are not. Those of the contract are always sent. */
export function setExtraEvents(
  audit: AuditContext,
  partnerId: Id<'prt'>,
  events: ExtraEvent[],
): Promise<'set' | 'no_webhook'> {
  return transaction(audit.pool, async tx => {
    await enterShardOf(tx, uuidFromId(partnerId));
    const before = await findWebhook(tx, partnerId);
    if (!before) return 'no_webhook';
    await tx.query({
      text: 'UPDATE webhooks SET extra_events = $2, changed_at = $3 WHERE partner_id = $1',
      values: [uuidFromId(partnerId), events, instantOf(audit.clock)],
    });
    await recordChange(tx, audit, {
      action: 'webhook.events',
      subject: partnerId,
      before: { extra_events: before.extraEvents },
      after: { extra_events: events },
    });
    return 'set';
  });
}

const overlapMs = 24 * 3_600_000;

/** A new secret; for a day the old one signs as well, so that the receiver can change over without a gap. */
export function rotateSecret(
  audit: AuditContext,
  vault: Vault,
  partnerId: Id<'prt'>,
  { force = false } = {},
): Promise<'rotated' | 'no_webhook' | 'overlap'> {
  return transaction(audit.pool, async tx => {
    await enterShardOf(tx, uuidFromId(partnerId));
    const known = await findWebhook(tx, partnerId);
    // A third secret would end the first one at once, and the receiver may still use it.
    if (!force && known?.oldSecretUntil && known.oldSecretUntil.getTime() > audit.clock.nowMs())
      return 'overlap';
    const until = new Date(audit.clock.nowMs() + overlapMs);
    const { rowCount } = await tx.query({
      text: `UPDATE webhooks SET old_secret = secret, old_secret_until = $3, secret = $2, changed_at = $4
              WHERE partner_id = $1`,
      values: [uuidFromId(partnerId), vault.seal(newSecret(), partnerId), until, instantOf(audit.clock)],
    });
    if (rowCount === 0) return 'no_webhook';
    await recordChange(tx, audit, {
      action: 'webhook.rotate',
      subject: partnerId,
      after: { old_secret_until: until },
    });
    return 'rotated';
  });
}

/** The secrets in force, the newest first. */
export function decryptSecrets(
  vault: Vault,
  partnerId: Id<'prt'>,
  row: { secret: Buffer; old_secret: Buffer | null; old_secret_until: Date | null },
  nowMs: number,
): string[] {
  const old = row.old_secret && row.old_secret_until!.getTime() > nowMs ? [row.old_secret] : [];
  return [row.secret, ...old].map(sealed => vault.decrypt(sealed, partnerId));
}

export async function readSecrets(
  db: Queryable,
  vault: Vault,
  partnerId: Id<'prt'>,
  nowMs: number,
): Promise<string[]> {
  const { rows } = await db.query<{
    secret: Buffer;
    old_secret: Buffer | null;
    old_secret_until: Date | null;
  }>({
    text: 'SELECT secret, old_secret, old_secret_until FROM webhooks WHERE partner_id = $1',
    values: [uuidFromId(partnerId)],
  });
  return rows[0] ? decryptSecrets(vault, partnerId, rows[0], nowMs) : [];
}

/** Ends a suspension. The backlog goes out one by one in the order of events, each with the whole retry schedule. */
export function reEnable(audit: AuditContext, partnerId: Id<'prt'>): Promise<'re_enabled' | 'not_suspended'> {
  return transaction(audit.pool, async tx => {
    await enterShardOf(tx, uuidFromId(partnerId));
    const at = instantOf(audit.clock);
    const { rowCount } = await tx.query({
      text: `UPDATE webhooks w
                SET suspended_at = NULL, given_up = 0, hanging = false, changed_at = $2,
                    kept_until = (SELECT max(event_id) FROM deliveries d
                                   WHERE d.partner_id = w.partner_id AND d.failed_at IS NULL)
              WHERE partner_id = $1 AND suspended_at IS NOT NULL`,
      values: [uuidFromId(partnerId), at],
    });
    if (rowCount === 0) return 'not_suspended';
    await tx.query({
      // Events are sent by their due time. Times of two processes may differ a little, so a later event is due no earlier.
      text: `UPDATE deliveries d SET attempts = 0, next_at = o.at
               FROM (SELECT k.event_id, max(e.at) OVER (ORDER BY k.event_id) AS at
                       FROM deliveries k JOIN deliverable_events e
                         ON e.partner_id = k.partner_id AND e.mode = k.mode AND e.id = k.event_id
                      WHERE k.partner_id = $1 AND k.failed_at IS NULL) AS o
              WHERE d.partner_id = $1 AND d.event_id = o.event_id AND (d.attempts > 0 OR d.next_at <> o.at)`,
      values: [uuidFromId(partnerId)],
    });
    await tx.query({
      text: `INSERT INTO partner_notices (partner_id, kind, details, at) VALUES ($1, 'sending_re_enabled', '{}', $2)`,
      values: [uuidFromId(partnerId), at],
    });
    await clearAlarmsOf(tx, audit, partnerId);
    await recordChange(tx, audit, { action: 'webhook.re_enable', subject: partnerId });
    return 're_enabled';
  });
}
