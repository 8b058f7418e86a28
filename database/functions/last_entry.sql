-- The last entry of an account that changed `available` or `held`, with a number above one and up to another, booked before a moment.
-- Live entries have greater numbers than archived ones. Mostly it is of the last weeks: other months are asked after that.
CREATE OR REPLACE FUNCTION last_entry(
  partner uuid, in_mode mode, above bigint, up_to bigint, changed account, before timestamptz
) RETURNS SETOF entries LANGUAGE plpgsql STABLE ROWS 1 AS $$
BEGIN
  RETURN QUERY SELECT e.* FROM entries e
                WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= up_to AND e.entry_no > above
                  AND changed IN (e.from_account, e.to_account)
                ORDER BY e.entry_no DESC LIMIT 1;
  IF FOUND THEN RETURN; END IF;
  IF NOT EXISTS (SELECT FROM archive_sums s WHERE s.partner_id = partner AND s.mode = in_mode AND s.kind = 'entries') THEN
    RETURN;
  END IF;
  RETURN QUERY SELECT a.* FROM entries_archive a
                WHERE a.partner_id = partner AND a.mode = in_mode AND a.entry_no <= up_to AND a.entry_no > above
                  AND a.created_at >= before - interval '10 days' AND a.created_at < before
                  AND changed IN (a.from_account, a.to_account)
                ORDER BY a.entry_no DESC LIMIT 1;
  IF FOUND THEN RETURN; END IF;
  RETURN QUERY SELECT a.* FROM entries_archive a
                WHERE a.partner_id = partner AND a.mode = in_mode AND a.entry_no <= up_to AND a.entry_no > above
                  AND changed IN (a.from_account, a.to_account)
                ORDER BY a.entry_no DESC LIMIT 1;
END $$;
