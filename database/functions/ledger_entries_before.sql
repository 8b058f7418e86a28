-- How many entries of an account were booked before a moment. Their times never go back, so a binary search finds it:
-- twenty look-ups in a million entries, and no index by time, which every payment would pay for. Where times may be out of
-- order, an entry counts as booked no earlier than those before it.
CREATE OR REPLACE FUNCTION ledger_entries_before(partner uuid, in_mode mode, moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  low bigint;    -- this many were before the moment,
  high bigint;   -- and no more than this many
  middle bigint;
  first_after bigint;
BEGIN
  SELECT a.unordered_entries, a.entry_count INTO low, high
    FROM accounts a WHERE a.partner_id = partner AND a.mode = in_mode;
  IF low > 0 AND NOT EXISTS (SELECT FROM entries e WHERE e.partner_id = partner AND e.mode = in_mode
                                  AND e.entry_no = low + 1 AND e.created_at < moment) THEN
    SELECT min(e.entry_no) INTO first_after FROM entries e
     WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= low AND e.created_at >= moment;
    RETURN coalesce(first_after - 1, low);
  END IF;
  WHILE low < high LOOP
    middle := (low + high + 1) / 2;
    IF (SELECT e.created_at < moment FROM entries e
         WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no = middle) THEN
      low := middle;
    ELSE
      high := middle - 1;
    END IF;
  END LOOP;
  RETURN coalesce(low, 0);
END $$;
