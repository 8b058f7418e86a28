import { type Clock, instantOf } from '../../base/clock.ts';
import { uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { type Queryable, transaction } from '../../db/postgres/index.ts';
import { type Delivery, listDeliveries } from './deliveries.ts';
import type { DeliveryFilter } from './delivery-statement.ts';
import { resetTo } from './resend.ts';

export const maxResendBatch = 500;
/** So many are counted; with more, the caller learns that there are more. */
const maxCounted = 5_000;
/** Of a filter that few match, so many pages are read at most. */
const maxPages = 20;

/** How many deliveries have failed permanently and match the filter. */
export async function countFailed(
  db: Queryable,
  clock: Clock,
  filter: DeliveryFilter,
): Promise<{ count: number; isComplete: boolean }> {
  let count = 0;
  let after: bigint | undefined;
  for (let page = 0; page < maxPages && count < maxCounted; page++) {
    const read = await listDeliveries(db, clock, failedOf(filter), { limit: maxResendBatch, after });
    count += read.deliveries.length;
    if (read.next === null) return { count, isComplete: true };
    after = read.next;
  }
  return { count, isComplete: false };
}

const failedOf = (filter: DeliveryFilter): DeliveryFilter => ({ ...filter, state: 'failed' });

interface Batch {
  /** Where the batch before ended. */
  after?: bigint | undefined;
  /** It ends with the last delivery of an event, so it may have a few more. */
  max: number;
}

/**
 * Sends again one batch of what has failed permanently and matches the filter, newest event first. The caller goes on with
 * `next` until it is null: so each request is short, and an event that fails again meanwhile is not sent a second time.
 */
export async function resendFailedOf(
  audit: AuditContext,
  db: Queryable,
  filter: DeliveryFilter,
  { after, max }: Batch,
): Promise<{ queued: number; next: bigint | null }> {
  const { deliveries, next } = await listDeliveries(db, audit.clock, failedOf(filter), { limit: max, after });
  const queued = deliveries.length === 0 ? 0 : await queueAgain(audit, filter, deliveries);
  return { queued, next };
}

const queueAgain = (audit: AuditContext, filter: DeliveryFilter, deliveries: Delivery[]): Promise<number> =>
  transaction(audit.pool, async tx => {
    // What was sent again meanwhile, or is just being removed, is left out.
    const { rowCount } = await tx.query({
      text: `UPDATE deliveries d ${resetTo('$3')}
               FROM (SELECT o.endpoint_id, o.event_id
                       FROM unnest($1::uuid[], $2::bigint[]) AS k (endpoint_id, event_id)
                       JOIN deliveries o ON o.endpoint_id = k.endpoint_id AND o.event_id = k.event_id
                      WHERE o.failed_at IS NOT NULL
                      ORDER BY o.endpoint_id, o.event_id FOR UPDATE OF o SKIP LOCKED) AS f
              WHERE d.endpoint_id = f.endpoint_id AND d.event_id = f.event_id`,
      values: [
        deliveries.map(({ endpointId }) => uuidFromId(endpointId)),
        deliveries.map(({ eventId }) => eventId),
        instantOf(audit.clock),
      ],
    });
    const events = rowCount ?? 0;
    if (events > 0)
      await recordChange(tx, audit, {
        action: 'webhook.resend_failed',
        subject: filter.partnerId ?? 'webhooks',
        after: { events, ...inAudit(filter) },
      });
    return events;
  });

const inAudit = ({ mode, outcome, endpointId, from, before }: DeliveryFilter) => ({
  ...(mode ? { mode } : {}),
  ...(outcome ? { event: `payment.${outcome}` } : {}),
  ...(endpointId ? { endpoint_id: endpointId } : {}),
  ...(from ? { since: from } : {}),
  ...(before ? { until: before } : {}),
});
