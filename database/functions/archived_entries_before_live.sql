-- All archived entries of an account, without those that are still live (as for payments, see archived_payments_between).
CREATE OR REPLACE FUNCTION archived_entries_before_live(partner uuid, in_mode mode) RETURNS SETOF entries
LANGUAGE plpgsql STABLE AS $$
DECLARE
  first_live CONSTANT bigint := (SELECT min(e.entry_no) FROM entries e WHERE e.partner_id = partner AND e.mode = in_mode);
BEGIN
  IF EXISTS (SELECT FROM archive_sums s WHERE s.partner_id = partner AND s.mode = in_mode AND s.kind = 'entries') THEN
    RETURN QUERY SELECT a.* FROM entries_archive a
                  WHERE a.partner_id = partner AND a.mode = in_mode AND (a.entry_no < first_live) IS NOT FALSE;
  END IF;
END $$;
