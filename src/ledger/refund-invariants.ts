import { checkpoints } from './checkpoints.ts';

/**
 * The invariants of refunds, in the form of those in verify.ts. Refunds stay when their test payments are pruned, entries go: what a
 * checkpoint has passed is not compared.
 */
export const refundInvariants: Record<string, string> = {
  'each refund has its entry, and each such entry its refund': `
    SELECT coalesce(e.partner_id, r.partner_id) AS partner_id, coalesce(e.mode, r.mode) AS mode,
           format('refund %s of %s, entry %s of %s', r.refund_id, r.micro_usdt, e.entry_no, e.micro_usdt) AS detail
      FROM (SELECT * FROM all_entries WHERE from_account = 'settled') AS e
      FULL JOIN (SELECT * FROM refunds WHERE micro_usdt > 0) AS r
             ON r.partner_id = e.partner_id AND r.mode = e.mode AND r.entry_no = e.entry_no
     WHERE (e.micro_usdt, e.reference) IS DISTINCT FROM (r.micro_usdt, 'refund:' || r.refund_id)
       AND NOT (e.entry_no IS NULL AND EXISTS (SELECT FROM ${checkpoints} AS c WHERE c.partner_id = r.partner_id
                                                  AND c.mode = r.mode AND c.entry_no >= r.entry_no))`,

  'refunds of a payment add up to their totals': `
    SELECT partner_id, mode, format('refund %s: %s kopecks and %s micro-USDT, its totals are %s and %s', refund_id,
             kopecks, sum_micro_usdt, total_kopecks, total_micro_usdt) AS detail
      FROM (SELECT *, sum(amount_kopecks) OVER so_far AS kopecks, sum(micro_usdt) OVER so_far AS sum_micro_usdt
              FROM refunds WINDOW so_far AS (PARTITION BY payment_id ORDER BY total_kopecks)) AS r
     WHERE (kopecks, sum_micro_usdt) IS DISTINCT FROM (total_kopecks, total_micro_usdt)`,

  'refunds are of payments that succeeded, at their rate, and never more than was paid': `
    SELECT r.partner_id, r.mode, format('refund %s: %s of %s kopecks of a payment that is %s, %s of %s micro-USDT',
             r.refund_id, r.total_kopecks, p.amount_kopecks, p.status, r.total_micro_usdt, p.micro_usdt) AS detail
      FROM refunds r LEFT JOIN all_payments p ON p.partner_id = r.partner_id AND p.mode = r.mode AND p.id = r.payment_id
     WHERE (p.status = 'succeeded' AND r.total_kopecks <= p.amount_kopecks
            AND r.total_micro_usdt = div(p.micro_usdt::numeric * r.total_kopecks, p.amount_kopecks)) IS NOT TRUE
       -- The payment went with its month.
       AND NOT (p.id IS NULL AND EXISTS (SELECT FROM archived_months m WHERE m.dropped_at IS NOT NULL
                                            AND m.month = archive_month_of(r.payment_id)))
       -- It was pruned.
       AND NOT (p.id IS NULL AND EXISTS (SELECT FROM ${checkpoints} AS c WHERE c.partner_id = r.partner_id
                                            AND c.mode = r.mode))`,
};
