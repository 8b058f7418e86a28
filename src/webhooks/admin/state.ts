import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';
import type { Webhook } from './webhook.ts';

/** Of those among these partners that have a webhook. */
export async function listWebhookStates(
  db: Queryable,
  partners: Id<'prt'>[],
): Promise<Map<Id<'prt'>, Webhook['state']>> {
  const { rows } = await db.query<{ partner_id: string; suspended: boolean }>({
    text: 'SELECT partner_id, suspended_at IS NOT NULL AS suspended FROM webhooks WHERE partner_id = ANY ($1)',
    values: [partners.map(uuidFromId)],
  });
  return new Map(
    rows.map(row => [idFromUuid('prt', row.partner_id), row.suspended ? 'suspended' : 'active']),
  );
}

export interface DeliveryCounts {
  /** Not delivered yet; of these, those that have failed at least once. */
  waiting: number;
  failing: number;
  givenUp: number;
  suspendedPartners: number;
}

export async function countDeliveries(db: Queryable): Promise<DeliveryCounts> {
  const { rows } = await db.query<DeliveryCounts>({
    text: `SELECT count(*) FILTER (WHERE failed_at IS NULL)::int AS waiting,
                  count(*) FILTER (WHERE failed_at IS NULL AND attempts > 0)::int AS failing,
                  count(failed_at)::int AS "givenUp",
                  (SELECT count(*)::int FROM webhooks WHERE suspended_at IS NOT NULL) AS "suspendedPartners"
             FROM deliveries`,
  });
  return rows[0]!;
}
