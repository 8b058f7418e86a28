import { type Id, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';
import type { AccountKey } from '../../ledger/index.ts';
import type { Attempt } from './attempt-log.ts';

/** The event of a payment with its delivery attempts. */
export interface DeliveryHistory {
  eventId: bigint;
  at: Date;
  /** Oldest first; those of the last thirty days. */
  attempts: Attempt[];
  /** Still to be sent, or given up; null when it was delivered or the partner has no webhook. */
  delivery: { attempts: number; nextAt: Date; failedAt: Date | null } | null;
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
    attempts: number | null;
    next_at: Date;
    failed_at: Date | null;
  }>({
    text: `SELECT e.id, e.at, d.attempts, d.next_at, d.failed_at
             FROM all_events e LEFT JOIN deliveries d ON d.partner_id = e.partner_id AND d.event_id = e.id
            WHERE e.payment_id = $1 AND e.partner_id = $2 AND e.mode = $3`,
    values: [uuidFromId(paymentId), uuidFromId(partnerId), mode],
  });
  const [event] = rows;
  if (!event) return undefined;
  const { attempts, next_at: nextAt, failed_at: failedAt } = event;
  return {
    eventId: event.id,
    at: event.at,
    attempts: await attemptsOf(db, partnerId, event.id),
    delivery: attempts === null ? null : { attempts, nextAt, failedAt },
  };
}

/** Oldest first. */
export async function attemptsOf(db: Queryable, partnerId: Id<'prt'>, eventId: bigint): Promise<Attempt[]> {
  const { rows } = await db.query<Attempt>({
    text: `SELECT event_id AS "eventId", attempt, at, status, error, duration_ms AS "durationMs"
             FROM webhook_attempts WHERE event_id = $1 AND partner_id = $2 ORDER BY id LIMIT ${maxAttempts}`,
    values: [eventId, uuidFromId(partnerId)],
  });
  return rows;
}
