import { type Id, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import { type Attempt, endpointIn, endpointValue } from './attempt-log.ts';

/** The event of a payment with its delivery attempts. */
export interface DeliveryHistory {
  eventId: bigint;
  at: Date;
  /** Oldest first; those of the last thirty days. */
  attempts: EventAttempt[];
  /** Still to be sent, or given up, by endpoint. Empty when it was delivered or the partner has no webhook. */
  deliveries: { endpointId: Id<'whe'>; attempts: number; nextAt: Date; failedAt: Date | null }[];
}

const maxAttempts = 100;

/** Undefined while the payment is processing. */
export async function deliveryHistory(
  db: Queryable,
  { partnerId, mode, paymentId }: AccountKey & { paymentId: Id<'pay'> },
): Promise<DeliveryHistory | undefined> {
  const { rows } = await db.query<{
    id: bigint;
    at: Date;
    endpoint: string | null;
    attempts: number | null;
    next_at: Date;
    failed_at: Date | null;
  }>({
    text: `SELECT e.id, e.at, d.endpoint, d.attempts, d.next_at, d.failed_at
             FROM event_of_payment($2, $3, $1) e
             LEFT JOIN LATERAL (
                  SELECT NULL::uuid AS endpoint, attempts, next_at, failed_at FROM deliveries d
                   WHERE d.partner_id = e.partner_id AND d.event_id = e.id
                  UNION ALL
                  SELECT endpoint_id, attempts, next_at, failed_at FROM further_deliveries d
                   WHERE d.partner_id = e.partner_id AND d.event_id = e.id) AS d ON true
            ORDER BY d.endpoint NULLS FIRST`,
    values: [uuidFromId(paymentId), uuidFromId(partnerId), mode],
  });
  const [event] = rows;
  if (!event) return undefined;
  return {
    eventId: event.id,
    at: event.at,
    attempts: await attemptsOf(db, partnerId, event.id),
    deliveries: rows.flatMap(({ endpoint, attempts, next_at: nextAt, failed_at: failedAt }) =>
      attempts === null ? [] : { endpointId: endpointIn(partnerId, endpoint), attempts, nextAt, failedAt },
    ),
  };
}

export type EventAttempt = Omit<Attempt, 'attemptId' | 'paymentId'>;

/** Oldest first; with `endpointId`, those of this endpoint. */
export async function attemptsOf(
  db: Queryable,
  partnerId: Id<'prt'>,
  eventId: bigint,
  endpointId?: Id<'whe'>,
): Promise<EventAttempt[]> {
  const ofEndpoint = endpointId ? 'AND endpoint_id IS NOT DISTINCT FROM $3' : '';
  const { rows } = await db.query<Omit<EventAttempt, 'endpointId'> & { endpoint: string | null }>({
    text: `SELECT event_id AS "eventId", endpoint_id AS endpoint, attempt, at, status, error, duration_ms AS "durationMs"
             FROM webhook_attempts WHERE event_id = $1 AND partner_id = $2 ${ofEndpoint} ORDER BY id LIMIT ${maxAttempts}`,
    values: [eventId, uuidFromId(partnerId), ...(endpointId ? [endpointValue(partnerId, endpointId)] : [])],
  });
  return rows.map(({ endpoint, ...attempt }) => ({
    ...attempt,
    endpointId: endpointIn(partnerId, endpoint),
  }));
}
