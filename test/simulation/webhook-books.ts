import { type Id, idFromUuid } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/pool.ts';
import type { Sessions } from './run-database.ts';

export interface BookedWebhook {
  partnerId: Id<'prt'>;
  url: string;
  leaseHolder: number | null;
  leasedUntilMs: number | null;
  suspended: boolean;
  suspensionNotices: number;
  givenUpNotices: number;
  openAlarms: number;
}

export interface BookedDelivery {
  partnerId: Id<'prt'>;
  eventId: string;
  attempts: number;
  nextMs: number;
  givenUp: boolean;
}

export interface BookedAttempt {
  id: number;
  partnerId: Id<'prt'>;
  eventId: string;
  attempt: number;
  atMs: number;
  status: number | null;
}

export interface BookedEvent {
  partnerId: Id<'prt'>;
  eventId: string;
}

/** What the database holds about the webhooks of this run. */
export interface WebhookBooks {
  webhooks: BookedWebhook[];
  deliveries: BookedDelivery[];
  /** Attempts recorded since the last read. */
  attempts: BookedAttempt[];
  events: BookedEvent[];
}

const statement = `
  SELECT (SELECT coalesce(json_agg(row_to_json(w) ORDER BY w."partnerId"), '[]') FROM (
            SELECT partner_id AS "partnerId", url, lease_holder AS "leaseHolder", extract(epoch FROM leased_until) * 1000 AS "leasedUntilMs",
                   suspended_at IS NOT NULL AS suspended,
                   (SELECT count(*) FROM partner_notices n
                     WHERE n.partner_id = w.partner_id AND kind = 'sending_suspended') AS "suspensionNotices",
                   (SELECT count(*) FROM partner_notices n
                     WHERE n.partner_id = w.partner_id AND kind = 'delivery_failed') AS "givenUpNotices"
              FROM webhooks w) AS w) AS webhooks,
         (SELECT coalesce(json_agg(row_to_json(d) ORDER BY d."partnerId", d.id), '[]') FROM (
            SELECT partner_id AS "partnerId", event_id AS id, event_id::text AS "eventId", attempts,
                   extract(epoch FROM next_at) * 1000 AS "nextMs",
                   failed_at IS NOT NULL AS "givenUp"
              FROM deliveries) AS d) AS deliveries,
         (SELECT coalesce(json_agg(row_to_json(a) ORDER BY a.id), '[]') FROM (
            SELECT id, partner_id AS "partnerId", event_id::text AS "eventId", attempt,
                   extract(epoch FROM at) * 1000 AS "atMs", status
              FROM webhook_attempts JOIN unnest($1::uuid[], $2::bigint[]) AS k (partner_id, last) USING (partner_id)
             WHERE id > last) AS a) AS attempts,
         (SELECT coalesce(json_agg(row_to_json(e) ORDER BY e.id), '[]') FROM (
            SELECT partner_id AS "partnerId", id, id::text AS "eventId"
              FROM events WHERE partner_id = ANY ($1)) AS e) AS events,
         (SELECT coalesce(json_agg(subject), '[]') FROM alarms
           WHERE kind = 'webhook_suspended' AND cleared_at IS NULL) AS alarms`;

/** Removes the webhooks of earlier runs. */
export async function deleteWebhooks({ pool, ofShards }: Sessions): Promise<void> {
  // Most runs have none, and TRUNCATE is slow.
  if ((await pool.query('SELECT FROM webhooks LIMIT 1')).rowCount === 0) return;
  for (const shard of ofShards)
    await shard.query('TRUNCATE webhooks, deliveries, webhook_attempts, partner_notices');
}

export async function readWebhookBooks(
  pool: Pool,
  /** With the last attempt that is known of each partner: every shard counts its own. */
  lastAttempts: Map<string, number>,
): Promise<WebhookBooks> {
  const { rows } = await pool.query<WebhookBooks & { alarms: string[] }>({
    name: 'hook books',
    text: statement,
    values: [[...lastAttempts.keys()], [...lastAttempts.values()]],
  });
  const { alarms, ...books } = rows[0]!;
  for (const row of [...books.webhooks, ...books.deliveries, ...books.attempts, ...books.events])
    row.partnerId = idFromUuid('prt', row.partnerId);
  for (const webhook of books.webhooks)
    webhook.openAlarms = alarms.filter(subject => subject === webhook.partnerId).length;
  return books;
}
