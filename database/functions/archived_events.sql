-- The archived events of payments of an account.
CREATE OR REPLACE FUNCTION archived_events(partner uuid, in_mode mode, payment_ids uuid[]) RETURNS SETOF events
LANGUAGE plpgsql STABLE AS $$
DECLARE
  -- As in archived_payments.
  first_id CONSTANT uuid := (SELECT i FROM unnest(payment_ids) i ORDER BY i LIMIT 1);
  last_id CONSTANT uuid := (SELECT i FROM unnest(payment_ids) i ORDER BY i DESC LIMIT 1);
BEGIN
  RETURN QUERY SELECT a.* FROM events_archive a
                WHERE a.partner_id = partner AND a.mode = in_mode AND a.payment_id = ANY (payment_ids)
                  AND a.payment_id >= first_id AND a.payment_id <= last_id;
END $$;
