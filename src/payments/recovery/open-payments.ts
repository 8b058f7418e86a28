import { type Clock, instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { findRow, hasRow, type Queryable, readRows, type Stored, withIds } from '../../db/postgres/index.ts';
import type { Order } from '../../gateway/index.ts';
import type { AccountKey, Mode } from '../../ledger/index.ts';
import { newestAnywhere } from '../archive/pages.ts';

/** When to poll next, and what is known by now. */
export interface NextPoll {
  at: Date;
  orderId?: string;
  /** The gateway gave no final answer. */
  review: boolean;
  supportSince?: Date;
}

/** Ends the lease: any process may poll the payment at that time. False when it was finished meanwhile. */
export const scheduleNextPoll = (
  db: Queryable,
  payment: AccountKey & { paymentId: Id<'pay'> },
  { at, orderId, review, supportSince }: NextPoll,
) =>
  hasRow(db, {
    name: 'schedule next poll',
    // Locks the payment and then its open row, in the order of payments_finish. The first order id stays.
    text: `WITH unfinished AS (
             UPDATE payments
                SET gateway_order_id = coalesce(gateway_order_id, $6),
                    status_detail = CASE WHEN $5 THEN 'manual_review' ELSE status_detail END
              WHERE partner_id = $1 AND mode = $2 AND id = $3 AND status = 'processing'
             RETURNING id)
           UPDATE open_payments
              SET next_at = $4, lease_holder = NULL, awaiting_gateway = awaiting_gateway AND NOT $5,
                  support_since = coalesce(support_since, $7)
            WHERE partner_id = $1 AND mode = $2 AND payment_id = (SELECT id FROM unfinished)`,
    values: [
      uuidFromId(payment.partnerId),
      payment.mode,
      uuidFromId(payment.paymentId),
      at,
      review,
      orderId ?? null,
      supportSince ?? null,
    ],
  });

export interface DuePayment extends AccountKey {
  paymentId: Id<'pay'>;
  qrcId: string;
  amountKopecks: bigint;
  /** That of a test payment; '{}' for a live one, where nothing depends on it. */
  metadata: string;
  createdAt: Date;
  supportSince: Date | null;
  tries: number;
}

/** Without a payment that is due, one row with nulls. */
type DueRow = Stored<DuePayment> & { first_due: Date | null };

const toDue = withIds<DuePayment>({ partnerId: 'prt', paymentId: 'pay' });

/** Takes a lease on payments that are due, at most so many of each mode: no other process polls them before `until`, unless this one dies. */
export async function claimDue(
  db: Queryable,
  clock: Clock,
  { until, leaseHolder, limits }: { until: Date; leaseHolder: number; limits: Record<Mode, number> },
) {
  const rows = await readRows<DueRow>(db, {
    name: 'claim due payments',
    text: `WITH claimed AS (
             UPDATE open_payments p SET next_at = $2, lease_holder = $3, tries = p.tries + 1
               FROM (VALUES ('live'::mode, $4::int), ('test', $5)) AS m (mode, most)
              CROSS JOIN LATERAL (SELECT o.scope, o.qrc_id FROM open_payments o WHERE o.mode = m.mode AND o.next_at <= $1
                                   ORDER BY o.next_at LIMIT m.most FOR UPDATE SKIP LOCKED) AS due
              WHERE p.scope = due.scope AND p.qrc_id = due.qrc_id
             RETURNING p.*)
           SELECT c.partner_id AS "partnerId", c.mode, c.payment_id AS "paymentId", c.qrc_id AS "qrcId", c.tries, c.support_since AS "supportSince",
                  p.amount_kopecks AS "amountKopecks", p.created_at AS "createdAt",
                  CASE c.mode WHEN 'test' THEN p.metadata END AS metadata, f.first_due
             -- Those that wait for a test clock are due never.
             FROM (SELECT min(nullif(next_at, 'infinity')) AS first_due FROM open_payments) AS f
             LEFT JOIN (claimed c JOIN payments p
               ON p.partner_id = c.partner_id AND p.mode = c.mode AND p.id = c.payment_id) ON true`,
    values: [instantOf(clock), until, leaseHolder, limits.live, limits.test],
  });
  const due = rows
    .filter(({ paymentId }) => paymentId !== null)
    .map(({ first_due: _, ...row }) => toDue({ ...row, metadata: row.metadata ?? '{}' }));
  /** When the first payment is or was due; undefined if none is unfinished. */
  const firstDueMs = rows[0]!.first_due?.getTime();
  return { due, firstDueMs };
}

/** Makes the payments of these dead processes due now. */
export async function releaseLeases(db: Queryable, clock: Clock, leaseHolders: number[]): Promise<void> {
  await db.query({
    // A locked row is about to be finished or polled by another process.
    text: `UPDATE open_payments p SET next_at = $1, lease_holder = NULL
             FROM (SELECT scope, qrc_id FROM open_payments WHERE lease_holder = ANY ($2) FOR UPDATE SKIP LOCKED) AS orphan
            WHERE p.scope = orphan.scope AND p.qrc_id = orphan.qrc_id`,
    values: [instantOf(clock), leaseHolders],
  });
}

/** The newest of our orders that a gateway has accepted; undefined if there is none. */
export async function findNewestOrder(db: Queryable) {
  const row = await findRow(db, {
    text: `SELECT p.id AS "paymentId", p.amount_kopecks AS "amountKopecks"
             FROM (${newestAnywhere("p.mode = 'live' AND NOT p.rejected AND p.gateway_order_id IS NOT NULL", 1)}) AS p
            ORDER BY p.id DESC LIMIT 1`,
  });
  return row && withIds<Pick<Order, 'paymentId' | 'amountKopecks'>>({ paymentId: 'pay' })(row);
}

/** Whether there are live payments that the service will poll as soon as it runs. */
export const hasUnfinishedPayments = (db: Queryable) =>
  hasRow(db, { text: `SELECT FROM open_payments WHERE mode = 'live' LIMIT 1` });
