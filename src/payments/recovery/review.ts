import { type Id, uuidFromId } from '../../base/ids.ts';
import type { Queryable } from '../../db/pool.ts';
import { type PaymentRow, paymentColumns, toPayment } from '../payment.ts';
import type { FoundPayment } from '../search/search.ts';

export interface PaymentInReview extends FoundPayment {
  tries: number;
  nextPollAt: Date;
  supportSince: Date | null;
  isUnderWay: boolean;
  /** Of the last call to the gateway. */
  lastAnswer: string | null;
}

interface ReviewFields extends PaymentRow {
  partner_name: string;
  tries: number;
  next_at: Date;
  support_since: Date | null;
  is_under_way: boolean;
  last_answer: string | null;
}

/** Live payments without a final answer of the gateway, oldest first; test payments only simulate it. */
export async function listReview(
  db: Queryable,
  { limit, after }: { limit: number; after?: Id<'pay'> | undefined },
): Promise<{ payments: PaymentInReview[]; hasMore: boolean }> {
  const { rows } = await db.query<ReviewFields>({
    text: `SELECT ${paymentColumns('p')}, r.name AS partner_name, o.tries, o.next_at, o.support_since, o.lease_holder IS NOT NULL AS is_under_way,
                  (SELECT concat_ws(', ', c.call || ': ' || c.outcome, 'status ' || c.status, c.error)
                     FROM gateway_calls c WHERE c.payment_id = p.id ORDER BY c.id DESC LIMIT 1) AS last_answer
             FROM (SELECT * FROM open_payments o
                    WHERE NOT o.awaiting_gateway AND o.mode = 'live' AND ($2::uuid IS NULL OR o.payment_id > $2)
                    ORDER BY o.payment_id LIMIT $1) AS o
            CROSS JOIN LATERAL (SELECT * FROM payments p WHERE p.partner_id = o.partner_id AND p.mode = o.mode
                                   AND p.id = o.payment_id OFFSET 0) AS p
             JOIN partners r ON r.id = p.partner_id
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
    lastAnswer: row.last_answer,
  }));
  return { payments, hasMore: rows.length > limit };
}
