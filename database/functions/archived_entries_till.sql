-- The search of ledger_entries_before among archived entries with numbers up to `high`, in the month of the moment. One statement about one
-- month: on Citus each is a way to a worker and back, and plans all months that it may concern.
CREATE OR REPLACE FUNCTION archived_entries_till(partner uuid, in_mode mode, moment timestamptz, low bigint, high bigint)
RETURNS bigint LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  month_start CONSTANT timestamptz := date_trunc('month', moment AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
  month_end CONSTANT timestamptz := (date_trunc('month', moment AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC';
  found_no bigint;
BEGIN
  WITH RECURSIVE search (low, high) AS (
    SELECT least(b.first_no - 1, archived_entries_till.high), least(b.last_no, archived_entries_till.high)
      FROM (SELECT (SELECT a.entry_no FROM entries_archive a
                     WHERE a.partner_id = partner AND a.mode = in_mode AND a.created_at >= month_start AND a.created_at < month_end
                     ORDER BY a.entry_no LIMIT 1) AS first_no,
                   (SELECT a.entry_no FROM entries_archive a
                     WHERE a.partner_id = partner AND a.mode = in_mode AND a.created_at >= month_start AND a.created_at < month_end
                     ORDER BY a.entry_no DESC LIMIT 1) AS last_no) AS b
     WHERE b.first_no IS NOT NULL
    UNION ALL
    SELECT CASE WHEN n.is_late THEN n.low ELSE n.middle END, CASE WHEN n.is_late THEN n.middle - 1 ELSE n.high END
      FROM (SELECT s.low, s.high, (s.low + s.high + 1) / 2 AS middle,
                   coalesce((SELECT a.created_at >= moment FROM entries_archive a
                              WHERE a.partner_id = partner AND a.mode = in_mode AND a.created_at >= month_start
                                AND a.created_at < month_end AND a.entry_no <= (s.low + s.high + 1) / 2
                              ORDER BY a.entry_no DESC LIMIT 1), false) AS is_late
              FROM search s WHERE s.low < s.high) AS n)
  SELECT s.low INTO found_no FROM search s WHERE s.low >= s.high;
  IF found_no IS NOT NULL THEN RETURN greatest(found_no, low); END IF;
  -- The account has no entry in that month.
  SELECT a.entry_no INTO found_no FROM entries_archive a
   WHERE a.partner_id = partner AND a.mode = in_mode AND a.created_at < month_start AND a.entry_no <= high
   ORDER BY a.entry_no DESC LIMIT 1;
  RETURN greatest(found_no, low);
END $$;
