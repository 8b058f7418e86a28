import { type Id, idFromUuid } from '../../src/base/ids.ts';
import type { Pool } from '../../src/db/postgres/pool.ts';
import type { Mode } from '../../src/ledger/index.ts';

/** An endpoint: the first of a partner, or a further one. */
export interface BookedWebhook {
  endpointId: Id<'whe'>;
  partnerId: Id<'prt'>;
  /** Null: both. */
  mode: Mode | null;
  /** The kinds that it gets. */
  events: string[];
  url: string;
  leaseHolder: number | null;
  leasedUntilMs: number | null;
  suspended: boolean;
  /** Notices are for the partner, about all of its endpoints. */
  suspensionNotices: number;
  givenUpNotices: number;
  openAlarms: number;
}

export interface DeliveryKey {
  endpointId: Id<'whe'>;
  eventId: string;
}

export interface BookedDelivery extends DeliveryKey {
  partnerId: Id<'prt'>;
  attempts: number;
  nextMs: number;
  givenUp: boolean;
}

export interface BookedAttempt extends DeliveryKey {
  id: number;
  partnerId: Id<'prt'>;
  attempt: number;
  atMs: number;
  status: number | null;
}

export interface BookedEvent {
  partnerId: string;
  mode: Mode;
  kind: string;
  eventId: string;
}

/** What the database holds about the webhooks of this run. */
export interface WebhookBooks {
  webhooks: BookedWebhook[];
  deliveries: BookedDelivery[];
  /** Attempts recorded since the last read. */
  attempts: BookedAttempt[];
  /** Of all payments and refunds, by their ids. */
  events: BookedEvent[];
}

const statement = `
  SELECT (SELECT coalesce(json_agg(row_to_json(w) ORDER BY w."endpointId"), '[]') FROM (
            SELECT endpoint_id AS "endpointId", partner_id AS "partnerId", mode, events, url, lease_holder AS "leaseHolder",
                   extract(epoch FROM leased_until) * 1000 AS "leasedUntilMs", suspended_at IS NOT NULL AS suspended,
                   (SELECT count(*) FROM partner_notices n
                     WHERE n.partner_id = w.partner_id AND kind = 'sending_suspended') AS "suspensionNotices",
                   (SELECT count(*) FROM partner_notices n
                     WHERE n.partner_id = w.partner_id AND kind = 'delivery_failed') AS "givenUpNotices"
              FROM endpoints w) AS w) AS webhooks,
         (SELECT coalesce(json_agg(row_to_json(d) ORDER BY d."endpointId", d.id), '[]') FROM (
            SELECT endpoint_id AS "endpointId", partner_id AS "partnerId", event_id AS id, event_id::text AS "eventId", attempts,
                   extract(epoch FROM next_at) * 1000 AS "nextMs",
                   failed_at IS NOT NULL AS "givenUp"
              FROM deliveries) AS d) AS deliveries,
         (SELECT coalesce(json_agg(row_to_json(a) ORDER BY a.id), '[]') FROM (
            SELECT id, endpoint_id AS "endpointId", partner_id AS "partnerId", event_id::text AS "eventId",
                   attempt, extract(epoch FROM at) * 1000 AS "atMs", status
              FROM webhook_attempts JOIN unnest($1::uuid[], $2::bigint[]) AS k (partner_id, last) USING (partner_id)
             WHERE id > last) AS a) AS attempts,
         (SELECT coalesce(json_agg(subject), '[]') FROM alarms
           WHERE kind = 'webhook_suspended' AND cleared_at IS NULL) AS alarms`;

/** Removes the webhooks of earlier runs. */
export async function deleteWebhooks(pool: Pool): Promise<void> {
  // Most runs have none, and TRUNCATE is slow.
  if ((await pool.query('SELECT FROM endpoints LIMIT 1')).rowCount === 0) return;
  await pool.query('TRUNCATE endpoints, deliveries, webhook_attempts, partner_notices');
}

export async function readWebhookBooks(
  pool: Pool,
  /** With the last attempt that is known of each partner. */
  lastAttempts: Map<string, number>,
): Promise<Omit<WebhookBooks, 'events'>> {
  const { rows } = await pool.query<Omit<WebhookBooks, 'events'> & { alarms: string[] }>({
    name: 'hook books',
    text: statement,
    values: [[...lastAttempts.keys()], [...lastAttempts.values()]],
  });
  const { alarms, ...books } = rows[0]!;
  for (const row of [...books.webhooks, ...books.deliveries, ...books.attempts]) {
    row.partnerId = idFromUuid('prt', row.partnerId);
    row.endpointId = idFromUuid('whe', row.endpointId);
  }
  for (const webhook of books.webhooks) {
    const { partnerId, endpointId, mode } = webhook;
    webhook.openAlarms = alarms.filter(subject => subject === (mode ? endpointId : partnerId)).length;
  }
  return books;
}
