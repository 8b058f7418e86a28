import { instantOf } from '../../base/clock.ts';
import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { findRow, hasRow, type Queryable, readValue, transaction } from '../../db/postgres/index.ts';
import type { Mode } from '../../ledger/index.ts';
import { listWebhooks, nameInAudit, type Webhook } from './webhook.ts';

/** Sent again with all attempts. */
export const resetTo = (at: string) => `SET attempts = 0, next_at = ${at}, failed_at = NULL`;

type Resent =
  | { outcome: 'queued'; partnerId: Id<'prt'>; endpointId: Id<'whe'>; suspended: boolean }
  /** Each of these gets the mode of the event: the caller must choose. */
  | { outcome: 'several_endpoints'; partnerId: Id<'prt'>; endpoints: Webhook[] }
  | { outcome: 'no_event' | 'no_webhook' };

interface EventRow {
  partner_id: string;
  mode: Mode;
  payment_id: string;
  is_refund: boolean;
}

/**
 * Sends an event again, delivered or not. With `ofPartner`, only if it is an event of this partner. Without an endpoint, to the only
 * one that gets such events. Ends of payments may have been sent before the endpoint chose its kinds, so they are sent again all the
 * same; a refund is sent only to endpoints that know this addition to the contract.
 */
export function resendEvent(
  audit: AuditContext,
  eventId: bigint,
  { ofPartner, endpointId }: { ofPartner?: Id<'prt'> | undefined; endpointId?: Id<'whe'> | undefined } = {},
): Promise<Resent> {
  return transaction(audit.pool, async tx => {
    // A delivery whose event is pruned meanwhile would be due without end.
    await tx.query({ text: 'SELECT wait_for_test_pruning()' });
    const event = await findEvent(tx, eventId, ofPartner);
    if (!event) return { outcome: 'no_event' };
    const partnerId = idFromUuid('prt', event.partner_id);
    const receiving = (await listWebhooks(tx, partnerId)).filter(
      ({ mode, events }) =>
        (mode ?? event.mode) === event.mode && (!event.is_refund || events.includes('payment.refunded')),
    );
    const asked = endpointId ? receiving.filter(one => one.endpointId === endpointId) : receiving;
    if (asked.length > 1) return { outcome: 'several_endpoints', partnerId, endpoints: asked };
    const [endpoint] = asked;
    if (!endpoint || !(await queueAgain(tx, audit, endpoint, { ...event, eventId })))
      return { outcome: 'no_webhook' };
    await recordChange(tx, audit, {
      action: 'webhook.resend',
      subject: partnerId,
      after: { ...nameInAudit(partnerId, endpoint.endpointId), event_id: `evt_${eventId}` },
    });
    const suspended = endpoint.state === 'suspended';
    return { outcome: 'queued', partnerId, endpointId: endpoint.endpointId, suspended };
  });
}

const findEvent = (tx: Queryable, eventId: bigint, ofPartner: Id<'prt'> | undefined) =>
  findRow<EventRow>(tx, {
    text: `SELECT e.partner_id, e.mode, e.payment_id, e.refund_id IS NOT NULL AS is_refund
             FROM partners p CROSS JOIN unnest(enum_range(NULL::mode)) AS m (mode)
            CROSS JOIN LATERAL deliverable_event(p.id, m.mode, $1) AS e
            WHERE $2::uuid IS NULL OR p.id = $2`,
    values: [eventId, ofPartner ? uuidFromId(ofPartner) : null],
  });

/** False if the endpoint was removed meanwhile: its row stays locked until the delivery is written. */
async function queueAgain(
  tx: Queryable,
  { clock }: AuditContext,
  { endpointId }: Webhook,
  event: EventRow & { eventId: bigint },
): Promise<boolean> {
  const locking = 'SELECT FROM endpoints WHERE endpoint_id = $1 FOR KEY SHARE';
  if (!(await hasRow(tx, { text: locking, values: [uuidFromId(endpointId)] }))) return false;
  await tx.query({
    text: `INSERT INTO deliveries AS d (endpoint_id, event_id, partner_id, mode, payment_id, next_at)
           VALUES ($1, $2, $6, $3, $4, $5)
           ON CONFLICT (endpoint_id, event_id) DO UPDATE ${resetTo('$5')}`,
    values: [
      uuidFromId(endpointId),
      event.eventId,
      event.mode,
      event.payment_id,
      instantOf(clock),
      event.partner_id,
    ],
  });
  return true;
}

const resendBatchSize = 500;

/** Sends again what was given up since then, for all partners; in batches, so that locks are held for a short time. */
export async function resendFailed(
  audit: AuditContext,
  since: Date,
  onProgress: (done: number, of: number) => void,
): Promise<number> {
  const which = 'failed_at >= $1 AND failed_at <= $2';
  const until = instantOf(audit.clock);
  const values = [since, until];
  const count = await readValue<number>(audit.pool, {
    text: `SELECT count(*)::int FROM deliveries WHERE ${which}`,
    values,
  });
  let done = 0;
  for (;;) {
    const { rowCount } = await audit.pool.query(
      `UPDATE deliveries d ${resetTo('$2')}
         FROM (SELECT endpoint_id, event_id FROM deliveries WHERE ${which} LIMIT ${resendBatchSize} FOR UPDATE SKIP LOCKED) f
        WHERE d.endpoint_id = f.endpoint_id AND d.event_id = f.event_id`,
      values,
    );
    const batch = rowCount ?? 0;
    if (batch === 0) break;
    done += batch;
    onProgress(done, count);
  }
  if (done > 0) {
    const after = { events: done, since };
    await recordChange(audit.pool, audit, { action: 'webhook.resend_failed', subject: 'webhooks', after });
  }
  return done;
}
