-- A payment by its id alone, live or archived. Without the partner, all workers are asked for an archived one.
CREATE OR REPLACE FUNCTION payment_of_anyone(in_mode mode, payment uuid) RETURNS SETOF payments
LANGUAGE plpgsql STABLE ROWS 1 AS $$
BEGIN
  RETURN QUERY SELECT p.* FROM payments p WHERE p.mode = in_mode AND p.id = payment AND NOT p.rejected;
  IF FOUND THEN RETURN; END IF;
  IF EXISTS (SELECT FROM archived_months m WHERE m.month = archive_month_of(payment)) THEN
    RETURN QUERY SELECT a.* FROM payments_archive a WHERE a.mode = in_mode AND a.id = payment AND NOT a.rejected;
  END IF;
END $$;
