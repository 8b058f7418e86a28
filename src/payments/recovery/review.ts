import { type Id, uuidFromId } from '../../base/ids.ts';
import { type Queryable, readRows, type Stored, withIds } from '../../db/postgres/index.ts';
import type { PastCall } from '../../gateway/index.ts';
import { paymentColumns, paymentIds } from '../payment.ts';
import type { FoundPayment } from '../search/search.ts';

export interface PaymentInReview extends FoundPayment {
  tries: number;
  nextPollAt: Date;
  supportSince: Date | null;
  isUnderWay: boolean;
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
