-- A number such that the entries of an account up to it, and no others, were booked before a moment. Times never go back, so
-- a binary search finds it: twenty look-ups in a million entries, and no index by time, which every payment would pay for.
-- Numbers may have gaps (entry_gaps): in a gap the entry before it decides.
-- Of a test account, the entries up to its checkpoint are gone: 0 for a moment that is not after it.
CREATE OR REPLACE FUNCTION ledger_entries_before(partner uuid, in_mode mode, moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  low bigint := 0;   -- all up to this number were before the moment,
  high bigint;       -- and none above this one
  middle bigint;
  first_live record;
  checkpoint test_checkpoints;
BEGIN
  SELECT a.entry_count INTO high FROM accounts a WHERE a.partner_id = partner AND a.mode = in_mode;
  IF in_mode = 'test' THEN
    SELECT * INTO checkpoint FROM test_checkpoints c WHERE c.partner_id = partner;
    IF moment <= checkpoint.at THEN RETURN 0; END IF;
    low := coalesce(checkpoint.entry_no, 0);
  END IF;
  -- All archived entries have smaller numbers than the first live one. Holds up to a checkpoint are no place to begin.
  SELECT e.entry_no, e.created_at INTO first_live FROM entries e
   WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no > low ORDER BY e.entry_no LIMIT 1;
  IF (first_live.created_at >= moment) IS NOT FALSE
     AND EXISTS (SELECT FROM archive_sums s WHERE s.partner_id = partner AND s.mode = in_mode AND s.kind = 'entries') THEN
    RETURN archived_entries_till(partner, in_mode, moment, low, least(high, first_live.entry_no - 1));
  END IF;
  WHILE low < high LOOP
    middle := (low + high + 1) / 2;
    IF (SELECT e.created_at >= moment FROM entries e
         WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= middle
         ORDER BY e.entry_no DESC LIMIT 1) THEN
      high := middle - 1;
    ELSE
      low := middle;
    END IF;
  END LOOP;
  RETURN low;
END $$;
