-- The search of ledger_entries_before among archived entries with numbers above `low` and up to `high`. One statement: on Citus each
-- is a way to a worker and back.
CREATE OR REPLACE FUNCTION archived_entries_till(partner uuid, in_mode mode, moment timestamptz, low bigint, high bigint)
RETURNS bigint LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
BEGIN
  RETURN (
    WITH RECURSIVE search (low, high) AS (
      SELECT archived_entries_till.low, archived_entries_till.high
      UNION ALL
      SELECT CASE WHEN n.is_late THEN n.low ELSE n.middle END, CASE WHEN n.is_late THEN n.middle - 1 ELSE n.high END
        FROM (SELECT s.low, s.high, (s.low + s.high + 1) / 2 AS middle,
                     coalesce((SELECT a.created_at >= moment FROM entries_archive a
                                WHERE a.partner_id = partner AND a.mode = in_mode AND a.entry_no <= (s.low + s.high + 1) / 2
                                ORDER BY a.entry_no DESC LIMIT 1), false) AS is_late
                FROM search s WHERE s.low < s.high) AS n)
    SELECT s.low FROM search s WHERE s.low >= s.high);
END $$;
