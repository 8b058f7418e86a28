-- The event of a payment, live or archived. In this order none is missed.
CREATE OR REPLACE FUNCTION event_of_payment(partner uuid, in_mode mode, payment uuid) RETURNS SETOF events
LANGUAGE plpgsql STABLE ROWS 1 AS $$
BEGIN
  RETURN QUERY SELECT e.* FROM events e WHERE e.payment_id = payment AND e.partner_id = partner AND e.mode = in_mode;
  IF FOUND THEN RETURN; END IF;
  IF EXISTS (SELECT FROM archive_sums s WHERE s.partner_id = partner AND s.mode = in_mode
                AND s.month = archive_month_of(payment) AND s.kind = 'events') THEN
    RETURN QUERY SELECT a.* FROM events_archive a
                  WHERE a.payment_id = payment AND a.partner_id = partner AND a.mode = in_mode;
  END IF;
END $$;
