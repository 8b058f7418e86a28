import { type Id, idFromUuid, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { AccountKey } from '../../ledger/index.ts';
import type { Attempt } from './attempt-log.ts';

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
    text: `SELECT e.id, e.at, d.endpoint_id AS endpoint, d.attempts, d.next_at, d.failed_at
             FROM event_of_payment($2, $3, $1) e
             LEFT JOIN deliveries d ON d.partner_id = e.partner_id AND d.event_id = e.id
            ORDER BY d.endpoint_id <> e.partner_id, d.endpoint_id`,
    values: [uuidFromId(paymentId), uuidFromId(partnerId), mode],
  });
  const [event] = rows;
  if (!event) return undefined;
  return {
    eventId: event.id,
    at: event.at,
    attempts: await attemptsOf(db, partnerId, event.id),
    deliveries: rows.flatMap(({ endpoint, attempts, next_at: nextAt, failed_at: failedAt }) =>
      attempts === null ? [] : { endpointId: idFromUuid('whe', endpoint!), attempts, nextAt, failedAt },
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
  const ofEndpoint = endpointId ? 'AND endpoint_id = $3' : '';
  const { rows } = await db.query<Omit<EventAttempt, 'endpointId'> & { endpoint: string }>({
    text: `SELECT event_id AS "eventId", endpoint_id AS endpoint, attempt, at, status, error, duration_ms AS "durationMs"
             FROM webhook_attempts WHERE event_id = $1 AND partner_id = $2 ${ofEndpoint} ORDER BY id LIMIT ${maxAttempts}`,
    values: [eventId, uuidFromId(partnerId), ...(endpointId ? [uuidFromId(endpointId)] : [])],
  });
  return rows.map(({ endpoint, ...attempt }) => ({
    ...attempt,
    endpointId: idFromUuid('whe', endpoint),
  }));
}
