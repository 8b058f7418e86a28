-- The part of prune_test_data that is in the archive. What goes is taken out of archive_sums. Entries go last: the guards
-- of the other tables look for them.
CREATE OR REPLACE FUNCTION prune_archived_test_data(partner uuid, up_to bigint, ended uuid[]) RETURNS void
LANGUAGE plpgsql SET TimeZone = 'UTC' AS $$
BEGIN
  -- Most test data is pruned before its month is archived, and then the archive is not asked.
  IF NOT EXISTS (SELECT FROM archive_sums s WHERE s.partner_id = partner AND s.mode = 'test') THEN RETURN; END IF;
  DELETE FROM archived_keys k WHERE k.payment_id = ANY (ended) AND k.partner_id = partner AND k.mode = 'test';
  DELETE FROM archived_references r
   WHERE r.partner_id = partner AND r.mode = 'test'
     AND r.reference = ANY (ARRAY(SELECT e.reference FROM entries_between(partner, 'test', 0, up_to, false, NULL) e
                                   WHERE e.payment_id IS NULL));

  UPDATE archive_sums s SET rows = s.rows - n.rows, digest = s.digest - n.digest
    FROM (SELECT 'events' AS kind, archive_month_of(e.payment_id) AS month, count(*) AS rows,
                 sum(archive_digest(to_jsonb(e))) AS digest
            FROM archived_events(partner, 'test', ended) e GROUP BY 2
          UNION ALL
          SELECT 'payments', archive_month_of(p.id), count(*), sum(archive_digest(to_jsonb(p)))
            FROM archived_payments(partner, 'test', ended) p GROUP BY 2
          UNION ALL
          SELECT 'entries', date_trunc('month', e.created_at)::date, count(*), sum(archive_digest(to_jsonb(e)))
            FROM archived_entries_up_to(partner, 'test', up_to) e
           WHERE e.payment_id IS NULL OR e.payment_id = ANY (ended) GROUP BY 2) AS n
   WHERE s.partner_id = partner AND s.mode = 'test' AND s.kind = n.kind AND s.month = n.month;

  DELETE FROM events_archive e WHERE e.partner_id = partner AND e.mode = 'test' AND e.payment_id = ANY (ended);
  DELETE FROM payments_archive p WHERE p.partner_id = partner AND p.mode = 'test' AND p.id = ANY (ended);
  DELETE FROM entries_archive e
   WHERE e.partner_id = partner AND e.mode = 'test' AND e.entry_no <= up_to
     AND (e.payment_id IS NULL OR e.payment_id = ANY (ended));
  -- At the end: the guards find out here that there is something to look for in the archive.
  DELETE FROM archive_sums s WHERE s.partner_id = partner AND s.mode = 'test' AND s.rows = 0;
END $$;
