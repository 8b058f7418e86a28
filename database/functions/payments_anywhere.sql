-- Payments of an account by their ids, live or archived; the archive is asked once for all of them, and only for those that are not live.
CREATE OR REPLACE FUNCTION payments_anywhere(partner uuid, in_mode mode, ids uuid[]) RETURNS SETOF payments
LANGUAGE plpgsql STABLE AS $$
DECLARE
  missing CONSTANT uuid[] := ARRAY(
    SELECT i FROM unnest(ids) i
     WHERE NOT EXISTS (SELECT FROM payments p WHERE p.partner_id = partner AND p.mode = in_mode AND p.id = i)
       AND EXISTS (SELECT FROM archive_sums s WHERE s.partner_id = partner AND s.mode = in_mode
                      AND s.month = archive_month_of(i) AND s.kind = 'payments'));
BEGIN
  RETURN QUERY SELECT p.* FROM payments p WHERE p.partner_id = partner AND p.mode = in_mode AND p.id = ANY (ids);
  IF cardinality(missing) > 0 THEN RETURN QUERY SELECT a.* FROM archived_payments(partner, in_mode, missing) a; END IF;
END $$;
