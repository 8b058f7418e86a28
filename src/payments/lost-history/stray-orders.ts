import { clearAlarmsOf } from '../../alarms/index.ts';
import { type Clock, instantOf } from '../../base/clock.ts';
import { uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import {
  findRow,
  findValue,
  hasRow,
  type Queryable,
  readRows,
  readValue,
  transaction,
} from '../../db/postgres/index.ts';
import type { ListedOrder } from '../../gateway/index.ts';
import type { Rebuilt, StrayReason } from './rebuild.ts';

/** An order of the gateway that has no payment here and could not be rebuilt. */
export interface StrayOrder {
  /** The id under which the gateway has it. */
  payment: string;
  orderId: string;
  state: string;
  amountKopecks: bigint;
  createdAt: Date;
  qrcId: string | null;
  why: StrayReason;
  foundAt: Date;
}

const columns = `payment, order_id AS "orderId", state, amount_kopecks AS "amountKopecks", created_at AS "createdAt",
  qrc_id AS "qrcId", why, found_at AS "foundAt"`;

/** Blocks its code and its key. True if it was not known before. */
export const storeStray = (
  db: Queryable,
  clock: Clock,
  incarnation: number,
  { order, payment, verdict }: Rebuilt,
) =>
  readValue<boolean>(db, {
    text: `INSERT INTO stray_orders AS s (payment, order_id, state, amount_kopecks, created_at, qrc_id, partner_id,
                                          idempotency_key, reference, why, incarnation, found_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
           ON CONFLICT (payment) DO UPDATE SET state = excluded.state, why = excluded.why,
             qrc_id = coalesce(excluded.qrc_id, s.qrc_id), partner_id = coalesce(excluded.partner_id, s.partner_id),
             idempotency_key = coalesce(excluded.idempotency_key, s.idempotency_key),
             reference = coalesce(excluded.reference, s.reference)
           RETURNING xmax = 0 AS is_new`,
    values: [
      order.paymentId,
      order.orderId,
      order.state,
      order.amountKopecks,
      order.createdAt,
      payment?.qrcId ?? order.qrcId,
      payment ? uuidFromId(payment.partnerId) : null,
      payment?.idempotencyKey ?? null,
      order.reference,
      verdict,
      incarnation,
      instantOf(clock),
    ],
  });

/** Those that people or a later attempt must deal with, oldest first. */
export const listStray = (db: Queryable) =>
  readRows<StrayOrder>(db, {
    text: `SELECT ${columns} FROM stray_orders WHERE released_at IS NULL ORDER BY created_at, payment LIMIT 1000`,
  });

/** The amount of one that is not released yet. */
export const findStrayAmount = (db: Queryable, payment: string) =>
  findValue<bigint>(db, {
    text: 'SELECT amount_kopecks FROM stray_orders WHERE payment = $1 AND released_at IS NULL',
    values: [payment],
  });

/** Whether some order is blocking more than its own code, since its code is not known. */
export const isAnyCodeUnknown = (db: Queryable) =>
  hasRow(db, {
    text: 'SELECT FROM stray_orders WHERE released_at IS NULL AND qrc_id IS NULL LIMIT 1',
  });

type Retryable = ListedOrder & { incarnation: number; why: StrayReason };

const orderColumns = `payment AS "paymentId", order_id AS "orderId", state, amount_kopecks AS "amountKopecks",
  created_at AS "createdAt", qrc_id AS "qrcId", reference, incarnation, why`;

/**
 * Those that can be rebuilt once what prevents it is over: the oldest of each partner and reason, so that no partner's orders
 * keep those of others waiting. And those whose reference no secret key opened: it may be of one that this process has by now.
 */
export const listRetryable = (db: Queryable) =>
  readRows<Retryable>(db, {
    name: 'list stray orders to rebuild',
    text: `(SELECT DISTINCT ON (partner_id, why) ${orderColumns} FROM stray_orders s
             WHERE released_at IS NULL AND reference IS NOT NULL
               AND (why IN ('qr_in_flight', 'insufficient_balance')
                    -- Its key is free again: the payment that had it was undone.
                    OR (why = 'key_taken'
                        AND (SELECT payment_id FROM payment_of_key(s.partner_id, 'live', s.idempotency_key)) IS NULL))
             ORDER BY partner_id, why, created_at)
           UNION ALL
           (SELECT ${orderColumns} FROM stray_orders
             WHERE released_at IS NULL AND why = 'unreadable' AND reference IS NOT NULL
             ORDER BY created_at, payment LIMIT 1000)`,
  });

/** It has become a payment. */
export async function markRebuilt(db: Queryable, clock: Clock, payment: string): Promise<void> {
  await db.query({
    text: `UPDATE stray_orders SET released_at = $2, released_by = 'service', reason = 'rebuilt'
            WHERE payment = $1 AND released_at IS NULL`,
    values: [payment, instantOf(clock)],
  });
}

/** An operator has found out what it was: its code and its key may be used again. */
export const releaseStray = (audit: AuditContext, payment: string, reason: string): Promise<boolean> =>
  transaction(audit.pool, tx => releaseStrayIn(tx, audit, payment, { reason }));

/** The same, as part of the caller's transaction. */
export async function releaseStrayIn(
  tx: Queryable,
  audit: AuditContext,
  payment: string,
  /** With four-eyes approval `requestedBy` is the operator who asked for it. */
  { reason, requestedBy }: { reason: string; requestedBy?: string },
): Promise<boolean> {
  const released = await findRow<{ qrc_id: string | null; amount_kopecks: bigint }>(tx, {
    text: `UPDATE stray_orders SET released_at = $2, released_by = $3, reason = $4
            WHERE payment = $1 AND released_at IS NULL RETURNING qrc_id, amount_kopecks`,
    values: [payment, instantOf(audit.clock), audit.actor, reason],
  });
  if (!released) return false;
  await clearAlarmsOf(tx, audit, payment);
  await recordChange(tx, audit, {
    action: 'recovery.release',
    subject: payment,
    after: { reason, ...released, asked_by: requestedBy },
  });
  return true;
}
