/** Live rows of the months that the archive has, by account. */
const liveOf = (table: string, id: string) => `
  (SELECT partner_id, mode, array_agg(${id}) AS ids FROM ${table}
    WHERE ${id} < (SELECT archive_first_id((max(month) + interval '1 month')::date) FROM archived_months) GROUP BY 1, 2) AS k`;

/** Copies in the archive of rows that are still live: FROM and what follows, with the copy as `a`. */
const copies = {
  payments: `FROM ${liveOf('payments', 'id')}, archived_payments(k.partner_id, k.mode, k.ids) AS a`,
  events: `FROM ${liveOf('events', 'payment_id')}, archived_events(k.partner_id, k.mode, k.ids) AS a`,
  entries: `
    FROM (SELECT partner_id, mode, array_agg(entry_no) AS ids, min(created_at) AS first_at, max(created_at) AS last_at FROM entries
           WHERE created_at < (SELECT max(month) + interval '1 month' FROM archived_months) AT TIME ZONE 'UTC' GROUP BY 1, 2) AS k,
         archived_entries(k.partner_id, k.mode, k.ids, k.first_at, k.last_at) AS a`,
};

const sums = 'count(*) AS rows, sum(archive_digest(to_jsonb(a))) AS digest';

/**
 * The invariants of the archive, in the form of those in verify.ts. Archived entries are part of the ledger and are checked
 * there; these find an archived row that was changed, removed or added, and a key or reference that got lost.
 *
 * On Citus a row is copied in a transaction before the one that deletes it and counts it. Such a copy is no fault as long as it equals
 * the live row.
 */
export const archiveInvariants: Record<string, string> = {
  'each archived month is as it was archived': `
    WITH moving AS (
      SELECT 'payments' AS kind, a.partner_id, a.mode, archive_month_of(a.id) AS month, ${sums} ${copies.payments}
       WHERE archive_is_distributed() GROUP BY 2, 3, 4
      UNION ALL
      SELECT 'events', a.partner_id, a.mode, archive_month_of(a.payment_id), ${sums} ${copies.events}
       WHERE archive_is_distributed() GROUP BY 2, 3, 4
      UNION ALL
      SELECT 'entries', a.partner_id, a.mode, date_trunc('month', a.created_at AT TIME ZONE 'UTC')::date, ${sums} ${copies.entries}
       WHERE archive_is_distributed() GROUP BY 2, 3, 4),
    found AS (
      SELECT kind, partner_id, mode, month, f.rows - coalesce(m.rows, 0) AS rows, f.digest - coalesce(m.digest, 0) AS digest
        FROM archive_found() AS f LEFT JOIN moving m USING (kind, partner_id, mode, month)
       WHERE f.rows > coalesce(m.rows, 0))
    SELECT partner_id, mode, format('%s of %s: %s rows were archived, %s are there%s', kind, to_char(month, 'YYYY-MM'),
             coalesce(s.rows, 0), coalesce(f.rows, 0), CASE WHEN s.rows = f.rows THEN ', and they differ' END) AS detail
      FROM archive_sums s FULL JOIN found f USING (kind, partner_id, mode, month)
      LEFT JOIN archived_months m USING (month)
     WHERE (s.rows, s.digest) IS DISTINCT FROM (f.rows, f.digest)
       AND NOT (kind <> 'entries' AND m.dropped_at IS NOT NULL AND f.rows IS NULL)`,

  'nothing is both live and archived': `
    SELECT p.partner_id, p.mode, format('payment %s', p.id) AS detail
      ${copies.payments} JOIN payments p ON p.partner_id = a.partner_id AND p.mode = a.mode AND p.id = a.id
     WHERE NOT archive_is_distributed() OR a IS DISTINCT FROM p
    UNION ALL
    SELECT e.partner_id, e.mode, format('event %s', e.id)
      ${copies.events} JOIN events e ON e.partner_id = a.partner_id AND e.mode = a.mode AND e.id = a.id
     WHERE NOT archive_is_distributed() OR a IS DISTINCT FROM e
    UNION ALL
    SELECT partner_id, mode, format('the key of payment %s', p.id)
      FROM payments p JOIN archived_keys USING (idempotency_key, partner_id, mode) WHERE NOT p.rejected`,

  'every archived payment has its key, and every archived credit its reference': `
    SELECT p.partner_id, p.mode, format('payment %s', p.id) AS detail
      FROM accounts k, archived_payments_between(k.partner_id, k.mode, '00000000-0000-0000-0000-000000000000',
                                                 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS p
     WHERE NOT p.rejected AND NOT EXISTS (
           SELECT FROM archived_keys k WHERE k.idempotency_key = p.idempotency_key AND k.partner_id = p.partner_id
              AND k.mode = p.mode AND k.payment_id = p.id)
    UNION ALL
    SELECT e.partner_id, e.mode, format('entry %s', e.entry_no) FROM accounts k, archived_credits(k.partner_id, k.mode) AS e
     WHERE NOT EXISTS (SELECT FROM archived_references r WHERE r.reference = e.reference AND r.partner_id = e.partner_id
                          AND r.mode = e.mode AND r.micro_usdt = e.micro_usdt)
       AND NOT EXISTS (SELECT FROM entries l WHERE l.partner_id = e.partner_id AND l.mode = e.mode AND l.entry_no = e.entry_no)`,
};
