-- A payment, or a rejected attempt, that is live or archived. Payments move only from the live table to the archive: in this
-- order none is missed.
CREATE OR REPLACE FUNCTION payment_anywhere(partner uuid, in_mode mode, payment uuid) RETURNS SETOF payments
LANGUAGE plpgsql STABLE ROWS 1 AS $$
BEGIN
  RETURN QUERY SELECT p.* FROM payments p WHERE p.partner_id = partner AND p.mode = in_mode AND p.id = payment;
  IF FOUND THEN RETURN; END IF;
  IF EXISTS (SELECT FROM archive_sums s WHERE s.partner_id = partner AND s.mode = in_mode
                AND s.month = archive_month_of(payment) AND s.kind = 'payments') THEN
    RETURN QUERY SELECT a.* FROM payments_archive a
                  WHERE a.partner_id = partner AND a.mode = in_mode AND a.id = payment;
  END IF;
END $$;
