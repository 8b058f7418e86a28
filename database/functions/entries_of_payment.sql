-- The entries of a payment: its hold and its end, live or archived. What is live is not read from the archive (entries_between).
CREATE OR REPLACE FUNCTION entries_of_payment(partner uuid, in_mode mode, payment uuid) RETURNS SETOF entries
LANGUAGE plpgsql STABLE ROWS 2 AS $$
DECLARE
  found_rows bigint;
  first_live bigint;
BEGIN
  RETURN QUERY SELECT e.* FROM entries e
                WHERE e.payment_id = payment AND e.partner_id = partner AND e.mode = in_mode;
  GET DIAGNOSTICS found_rows = ROW_COUNT;
  -- There are no more than two: a hold and its end.
  IF found_rows = 2 THEN RETURN; END IF;
  SELECT min(e.entry_no) INTO first_live FROM entries e WHERE e.partner_id = partner AND e.mode = in_mode;
  IF EXISTS (SELECT FROM archive_sums s WHERE s.partner_id = partner AND s.mode = in_mode AND s.kind = 'entries'
                AND s.month >= archive_month_of(payment)) THEN
    RETURN QUERY SELECT a.* FROM entries_archive a
                  WHERE a.payment_id = payment AND a.partner_id = partner AND a.mode = in_mode
                    AND (a.entry_no < first_live) IS NOT FALSE;
  END IF;
END $$;
