-- The payment that an idempotency key is bound to: null, or one row. The keys of archived payments are in archived_keys; one statement
-- looks in both places, since payments move between them. It is inlined, so it costs no call.
--
-- Not with NOT EXISTS, for which the planner may read the whole index, and compared with IS NOT DISTINCT FROM, which leaves it only
-- the index that begins with the key.
CREATE OR REPLACE FUNCTION payment_of_key(partner uuid, in_mode mode, key text) RETURNS TABLE (payment_id uuid)
LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (SELECT p.id FROM payments p WHERE p.idempotency_key = key AND NOT p.rejected
        AND (p.partner_id, p.mode) IS NOT DISTINCT FROM (partner, in_mode)),
    (SELECT k.payment_id FROM archived_keys k WHERE k.idempotency_key = key AND k.partner_id = partner AND k.mode = in_mode));
$$;
