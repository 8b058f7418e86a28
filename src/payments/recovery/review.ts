import { type Id, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import type { PastCall } from '../../gateway/index.ts';
import { type PaymentRow, paymentColumns, toPayment } from '../payment.ts';
import type { FoundPayment } from '../search/search.ts';

interface PaymentInReview extends FoundPayment {
  tries: number;
  nextPollAt: Date;
  supportSince: Date | null;
  isUnderWay: boolean;
  /** What the last call to the gateway brought. */
  lastAnswer: Pick<PastCall, 'call' | 'outcome' | 'status' | 'error'> | null;
}

interface ReviewFields extends PaymentRow {
  partner_name: string;
  tries: number;
  next_at: Date;
  support_since: Date | null;
  is_under_way: boolean;
  last_call: PastCall['call'] | null;
  last_outcome: string | null;
  last_status: number | null;
  last_error: string | null;
}

/** Live payments without a final answer of the gateway, oldest first; test payments only simulate it. */
export async function listReview(
  db: Queryable,
  { limit, after }: { limit: number; after?: Id<'pay'> | undefined },
): Promise<{ payments: PaymentInReview[]; hasMore: boolean }> {
  const { rows } = await db.query<ReviewFields>({
    text: `SELECT ${paymentColumns('p')}, r.name AS partner_name, o.tries, o.next_at, o.support_since, o.lease_holder IS NOT NULL AS is_under_way,
                  c.call AS last_call, c.outcome AS last_outcome, c.status AS last_status, c.error AS last_error
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
  const payments = rows.slice(0, limit).map(row => ({
    ...toPayment(row),
    partnerName: row.partner_name,
    tries: row.tries,
    nextPollAt: row.next_at,
    supportSince: row.support_since,
    isUnderWay: row.is_under_way,
    lastAnswer: lastAnswerOf(row),
  }));
  return { payments, hasMore: rows.length > limit };
}

const lastAnswerOf = ({ last_call: call, last_outcome: outcome, last_status, last_error }: ReviewFields) =>
  call !== null && outcome !== null ? { call, outcome, status: last_status, error: last_error } : null;
