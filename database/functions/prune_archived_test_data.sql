-- The part of prune_test_data that is in the archive. What goes is taken out of archive_sums. Entries go last: the guards
-- of the other tables look for them.
CREATE OR REPLACE FUNCTION prune_archived_test_data(partner uuid, up_to bigint, ended uuid[]) RETURNS void
LANGUAGE plpgsql SET TimeZone = 'UTC' AS $$
DECLARE
  months date[];
  counts bigint[];
  digests numeric[];
BEGIN
  DELETE FROM archived_keys k WHERE k.payment_id = ANY (ended) AND k.partner_id = partner AND k.mode = 'test';
  DELETE FROM archived_references r
   USING entries_archive e
   WHERE r.partner_id = partner AND r.mode = 'test' AND r.reference = e.reference
     AND e.partner_id = partner AND e.mode = 'test' AND e.payment_id IS NULL AND e.entry_no <= up_to;

  WITH gone AS (
    DELETE FROM events_archive e
     WHERE e.partner_id = partner AND e.mode = 'test' AND e.payment_id = ANY (ended) RETURNING e.*)
  SELECT array_agg(n.month), array_agg(n.rows), array_agg(n.digest) INTO months, counts, digests
    FROM (SELECT archive_month_of(g.payment_id) AS month, count(*) AS rows, sum(archive_digest(to_jsonb(g))) AS digest
            FROM gone g GROUP BY 1) AS n;
  UPDATE archive_sums s SET rows = s.rows - n.rows, digest = s.digest - n.digest
    FROM unnest(months, counts, digests) AS n (month, rows, digest)
   WHERE s.partner_id = partner AND s.mode = 'test' AND s.kind = 'events' AND s.month = n.month;
  WITH gone AS (
    DELETE FROM payments_archive p
     WHERE p.partner_id = partner AND p.mode = 'test' AND p.id = ANY (ended) RETURNING p.*)
  SELECT array_agg(n.month), array_agg(n.rows), array_agg(n.digest) INTO months, counts, digests
    FROM (SELECT archive_month_of(g.id) AS month, count(*) AS rows, sum(archive_digest(to_jsonb(g))) AS digest
            FROM gone g GROUP BY 1) AS n;
  UPDATE archive_sums s SET rows = s.rows - n.rows, digest = s.digest - n.digest
    FROM unnest(months, counts, digests) AS n (month, rows, digest)
   WHERE s.partner_id = partner AND s.mode = 'test' AND s.kind = 'payments' AND s.month = n.month;
  WITH gone AS (
    DELETE FROM entries_archive e
     WHERE e.partner_id = partner AND e.mode = 'test' AND e.entry_no <= up_to
       AND (e.payment_id IS NULL OR e.payment_id = ANY (ended)) RETURNING e.*)
  SELECT array_agg(n.month), array_agg(n.rows), array_agg(n.digest) INTO months, counts, digests
    FROM (SELECT date_trunc('month', g.created_at)::date AS month, count(*) AS rows, sum(archive_digest(to_jsonb(g))) AS digest
            FROM gone g GROUP BY 1) AS n;
  UPDATE archive_sums s SET rows = s.rows - n.rows, digest = s.digest - n.digest
    FROM unnest(months, counts, digests) AS n (month, rows, digest)
   WHERE s.partner_id = partner AND s.mode = 'test' AND s.kind = 'entries' AND s.month = n.month;
  DELETE FROM archive_sums s WHERE s.partner_id = partner AND s.mode = 'test' AND s.rows = 0;
END $$;
