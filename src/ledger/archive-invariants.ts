/**
 * The invariants of the archive, in the form of those in verify.ts. Archived entries are part of the ledger and are checked
 * there; these find an archived row that was changed, removed or added, and a key or reference that got lost.
 */
export const archiveInvariants: Record<string, string> = {
  'each archived month is as it was archived': `
    WITH found AS (
      SELECT 'payments' AS kind, partner_id, mode, archive_month_of(id) AS month, count(*) AS rows,
             sum(archive_digest(to_jsonb(p))) AS digest FROM payments_archive p GROUP BY 1, 2, 3, 4
      UNION ALL
      SELECT 'events', partner_id, mode, archive_month_of(payment_id), count(*), sum(archive_digest(to_jsonb(e)))
        FROM events_archive e GROUP BY 1, 2, 3, 4
      UNION ALL
      SELECT 'entries', partner_id, mode, date_trunc('month', created_at AT TIME ZONE 'UTC')::date, count(*),
             sum(archive_digest(to_jsonb(e))) FROM entries_archive e GROUP BY 1, 2, 3, 4)
    SELECT partner_id, mode, format('%s of %s: %s rows were archived, %s are there%s', kind, to_char(month, 'YYYY-MM'),
             coalesce(s.rows, 0), coalesce(f.rows, 0), CASE WHEN s.rows = f.rows THEN ', and they differ' END) AS detail
      FROM archive_sums s FULL JOIN found f USING (kind, partner_id, mode, month)
      LEFT JOIN archived_months m USING (month)
     WHERE (s.rows, s.digest) IS DISTINCT FROM (f.rows, f.digest)
       AND NOT (kind <> 'entries' AND m.dropped_at IS NOT NULL AND f.rows IS NULL)`,

  'nothing is both live and archived': `
    SELECT partner_id, mode, format('payment %s', id) AS detail
      FROM payments JOIN payments_archive USING (partner_id, mode, id)
    UNION ALL
    SELECT partner_id, mode, format('event %s', id) FROM events JOIN events_archive USING (partner_id, mode, id)
    UNION ALL
    SELECT partner_id, mode, format('the key of payment %s', p.id)
      FROM payments p JOIN archived_keys USING (idempotency_key, partner_id, mode) WHERE NOT p.rejected`,

  'every archived payment has its key, and every archived credit its reference': `
    SELECT partner_id, mode, format('payment %s', id) AS detail FROM payments_archive p
     WHERE NOT rejected AND NOT EXISTS (
           SELECT FROM archived_keys k WHERE k.idempotency_key = p.idempotency_key AND k.partner_id = p.partner_id
              AND k.mode = p.mode AND k.payment_id = p.id)
    UNION ALL
    SELECT partner_id, mode, format('entry %s', entry_no) FROM entries_archive e
     WHERE reference IS NOT NULL AND NOT EXISTS (
           SELECT FROM archived_references r WHERE r.reference = e.reference AND r.partner_id = e.partner_id
              AND r.mode = e.mode AND r.micro_usdt = e.micro_usdt)`,
};
