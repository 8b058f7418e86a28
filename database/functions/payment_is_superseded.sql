-- Whether an order of a lost history has the key of this payment, which was under way at the moment to which the database went
-- back: see docs/internals/lost-history.md. Only a later payment can have taken its place. An order that was made before it, by a
-- history that was lost earlier, arrived late: the partner may have seen this payment. The ids of two processes differ in time
-- by less than 5 s from the order in which they were made; an earlier history was closed for longer than that.
CREATE OR REPLACE FUNCTION payment_is_superseded(in_partner uuid, in_mode mode, in_payment uuid) RETURNS boolean
LANGUAGE plpgsql STABLE COST 10000
AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM payments p
      JOIN stray_orders s ON s.idempotency_key = p.idempotency_key AND s.partner_id = p.partner_id
       AND s.released_at IS NULL AND s.why = 'key_taken' AND id_created_at(s.payment) > p.created_at - interval '5 s'
      JOIN incarnations i ON i.number = s.incarnation AND p.created_at <= i.began_at
     WHERE p.partner_id = in_partner AND p.mode = in_mode AND p.mode = 'live' AND p.id = in_payment);
END $$;
