-- Payments of an account, live and archived, with ids from one on and before another.
CREATE OR REPLACE FUNCTION payments_between(partner uuid, in_mode mode, first_id uuid, beyond_id uuid)
RETURNS SETOF payments LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT p.* FROM payments p
                WHERE p.partner_id = partner AND p.mode = in_mode AND p.id >= first_id AND p.id < beyond_id;
  RETURN QUERY SELECT a.* FROM archived_payments_between(partner, in_mode, first_id, beyond_id) a;
END $$;
