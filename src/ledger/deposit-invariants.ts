/** The invariants of deposits, in the form of those in verify.ts. */
export const depositInvariants: Record<string, string> = {
  'each credited deposit is in the ledger, in an entry of their sum': `
    SELECT d.partner_id, 'live' AS mode,
           format('%s: deposits of %s, entry of %s', d.credit_reference, d.total, coalesce(e.micro_usdt, 0)) AS detail
      FROM (SELECT partner_id, credit_reference, sum(micro_usdt) AS total
              FROM deposits WHERE state = 'credited' GROUP BY 1, 2) AS d
      JOIN accounts a ON a.partner_id = d.partner_id AND a.mode = 'live'
      LEFT JOIN (SELECT partner_id, mode, reference, micro_usdt FROM entries UNION ALL
                 SELECT partner_id, mode, reference, micro_usdt FROM archived_references) AS e
             ON e.partner_id = d.partner_id AND e.mode = 'live' AND e.reference = d.credit_reference
     WHERE e.micro_usdt IS DISTINCT FROM d.total`,

  'all deposits of a transaction were booked together, but for those that an operator decided on': `
    SELECT partner_id, 'live' AS mode,
           format('%s on %s: deposits booked from %s to %s', transaction, chain, min(final_at), max(final_at)) AS detail
      FROM deposits WHERE state IN ('accumulating', 'credited') AND decided_at IS NULL
     GROUP BY partner_id, chain, transaction HAVING min(final_at) <> max(final_at)`,
};
