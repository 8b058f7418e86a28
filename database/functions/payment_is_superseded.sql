-- Whether an order of a lost history has the key of this payment, which was under way at the moment to which the database went
-- back: see docs/internals/lost-history.md.
CREATE OR REPLACE FUNCTION payment_is_superseded(in_partner uuid, in_mode mode, in_payment uuid) RETURNS boolean
LANGUAGE plpgsql STABLE COST 10000
AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM payments p
      JOIN stray_orders s ON s.idempotency_key = p.idempotency_key AND s.partner_id = p.partner_id
       AND s.released_at IS NULL AND s.why = 'key_taken'
      JOIN incarnations i ON i.number = s.incarnation AND p.created_at <= i.began_at
     WHERE p.partner_id = in_partner AND p.mode = in_mode AND p.mode = 'live' AND p.id = in_payment);
END $$;
