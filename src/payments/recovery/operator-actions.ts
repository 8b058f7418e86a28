import { clearAlarmsOf } from '../../alarms/index.ts';
import { instantOf } from '../../base/clock.ts';
import { type Id, uuidFromId } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import {
  findRow,
  type Queryable,
  readRows,
  type Stored,
  transaction,
  withIds,
} from '../../db/postgres/index.ts';
import type { PastCall } from '../../gateway/index.ts';
import { type Payment, paymentColumns, paymentIds } from '../payment.ts';
import { finishAll } from '../store.ts';

export interface PaymentForOperator extends Payment {
  partnerName: string;
  /** Null when it is finished. */
  nextPollAt: Date | null;
  supportSince: Date | null;
  /** A process has a lease on it: it pays or polls it right now. */
  isUnderWay: boolean;
}

const find = (db: Queryable, from: string, paymentId: Id<'pay'>) =>
  findRow(db, {
    text: `SELECT ${paymentColumns('p')}, o.next_at AS "nextPollAt", o.support_since AS "supportSince",
                  o.lease_holder IS NOT NULL AS "isUnderWay",
                  (SELECT r.name FROM partners r WHERE r.id = p.partner_id) AS "partnerName"
             FROM ${from}
             LEFT JOIN open_payments o ON o.partner_id = p.partner_id AND o.mode = p.mode AND o.payment_id = p.id`,
    values: [uuidFromId(paymentId)],
  });

const payments = `unnest(enum_range(NULL::mode)) AS m (mode)
  CROSS JOIN LATERAL payment_of_anyone(m.mode, $1) AS p`;

/** Rejected attempts are rarely looked up and have no index of their own: one primary-key lookup per partner. */
const attempts = `partners r CROSS JOIN unnest(enum_range(NULL::mode)) AS m (mode)
  CROSS JOIN LATERAL payment_anywhere(r.id, m.mode, $1) AS p`;

/** A payment of any partner and mode, including rejected attempts. */
export async function findPaymentAnywhere(
  db: Queryable,
  paymentId: Id<'pay'>,
): Promise<PaymentForOperator | undefined> {
  const row = (await find(db, payments, paymentId)) ?? (await find(db, attempts, paymentId));
  return row && withIds<PaymentForOperator>(paymentIds)(row);
}

export type DecisionResult =
  | { outcome: 'resolved' }
  | { outcome: 'no_payment' | 'under_way' }
  | { outcome: 'already_ended'; status: Payment['status'] };

export interface OperatorDecision {
  outcome: 'succeeded' | 'failed';
  reason: string;
  /** With four-eyes approval: the operator who asked for it. */
  requestedBy?: string;
}

/** An operator's decision finishes a payment without a final answer of the gateway; money moves as with an answer. */
export const decidePayment = (
  audit: AuditContext,
  paymentId: Id<'pay'>,
  decision: OperatorDecision,
): Promise<DecisionResult> => transaction(audit.pool, tx => decidePaymentIn(tx, audit, paymentId, decision));

/** The same, as part of the caller's transaction. */
export async function decidePaymentIn(
  tx: Queryable,
  audit: AuditContext,
  paymentId: Id<'pay'>,
  { outcome, reason, requestedBy }: OperatorDecision,
): Promise<DecisionResult> {
  const payment = await findPaymentAnywhere(tx, paymentId);
  if (!payment) return { outcome: 'no_payment' };
  const { partnerId, mode, status, statusDetail, amountKopecks } = payment;
  // Its order may be on its way to the gateway, which would then pay what was released here.
  if (payment.isUnderWay && status === 'processing') return { outcome: 'under_way' };
  const asFinished = outcome === 'failed' ? ({ outcome, code: 'gateway_declined' } as const) : { outcome };
  const [result] = await finishAll(tx, audit.clock, [{ partnerId, mode, paymentId, ...asFinished }]);
  if (!result!.changed) return { outcome: 'already_ended', status: result!.status };
  await clearAlarmsOf(tx, audit, paymentId);
  await recordChange(tx, audit, {
    action: 'payment.resolve',
    subject: paymentId,
    before: { status, statusDetail },
    after: { status: outcome, reason, mode, amount_kopecks: amountKopecks, asked_by: requestedBy },
  });
  return { outcome: 'resolved' };
}

export type PollRequest = { outcome: 'asked' | 'no_payment' | 'under_way' | 'already_ended' | 'test_mode' };

/** Makes an unfinished payment due now, so that a worker polls it. */
export function pollNow(audit: AuditContext, paymentId: Id<'pay'>): Promise<PollRequest> {
  return transaction(audit.pool, async tx => {
    const payment = await findPaymentAnywhere(tx, paymentId);
    if (!payment || payment.status === 'rejected') return { outcome: 'no_payment' };
    if (payment.mode === 'test') return { outcome: 'test_mode' };
    if (payment.status !== 'processing') return { outcome: 'already_ended' };
    const { rowCount } = await tx.query({
      text: `UPDATE open_payments SET next_at = $3
              WHERE partner_id = $1 AND mode = 'live' AND payment_id = $2 AND lease_holder IS NULL`,
      values: [uuidFromId(payment.partnerId), uuidFromId(paymentId), instantOf(audit.clock)],
    });
    if (rowCount === 0) return { outcome: 'under_way' };
    await recordChange(tx, audit, { action: 'payment.ask', subject: paymentId });
    return { outcome: 'asked' };
  });
}

interface PaymentInReview extends PaymentForOperator {
  tries: number;
  nextPollAt: Date;
  /** What the last call to the gateway brought. */
  lastAnswer: Pick<PastCall, 'call' | 'outcome' | 'status' | 'error'> | null;
}

type Reviewed = Omit<PaymentInReview, 'lastAnswer'>;

interface ReviewRow extends Stored<Reviewed> {
  call: PastCall['call'] | null;
  outcome: string | null;
  answerStatus: number | null;
  error: string | null;
}

const toReviewed = withIds<Reviewed>(paymentIds);

/** Live payments without a final answer of the gateway, oldest first; test payments only simulate it. */
export async function listReview(
  db: Queryable,
  { limit, after }: { limit: number; after?: Id<'pay'> | undefined },
): Promise<{ payments: PaymentInReview[]; hasMore: boolean }> {
  const rows = await readRows<ReviewRow>(db, {
    text: `SELECT ${paymentColumns('p')}, r.name AS "partnerName", o.tries, o.next_at AS "nextPollAt", o.support_since AS "supportSince",
                  o.lease_holder IS NOT NULL AS "isUnderWay", c.call, c.outcome, c.status AS "answerStatus", c.error
             FROM (SELECT * FROM open_payments o
                    WHERE NOT o.awaiting_gateway AND o.mode = 'live' AND ($2::uuid IS NULL OR o.payment_id > $2)
                    ORDER BY o.payment_id LIMIT $1) AS o
            CROSS JOIN LATERAL (SELECT * FROM payments p WHERE p.partner_id = o.partner_id AND p.mode = o.mode
                                   AND p.id = o.payment_id OFFSET 0) AS p
             JOIN partners r ON r.id = p.partner_id
             LEFT JOIN LATERAL (SELECT g.call, g.outcome, g.status, g.error FROM gateway_calls g
                                 WHERE g.payment_id = p.id ORDER BY g.id DESC LIMIT 1) AS c ON true
            ORDER BY p.id`,
    values: [limit + 1, after ? uuidFromId(after) : null],
  });
  const payments = rows.slice(0, limit).map(({ call, outcome, answerStatus: status, error, ...row }) => ({
    ...toReviewed(row),
    lastAnswer: call !== null && outcome !== null ? { call, outcome, status, error } : null,
  }));
  return { payments, hasMore: rows.length > limit };
}
