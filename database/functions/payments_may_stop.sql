-- Whether something stands against payments of many partners. Almost always nothing does, so it is read once for many payments, and
-- payment_refusal is asked about each only if this is true, or if there is something about that payment alone. As a table it is inlined, so
-- it costs no call.
CREATE OR REPLACE FUNCTION payments_may_stop(at timestamptz) RETURNS TABLE (may_stop boolean) LANGUAGE sql STABLE AS $$
  SELECT s.maintenance OR EXISTS (SELECT FROM incarnations WHERE opened_at IS NULL)
         OR EXISTS (SELECT FROM maintenance_windows WHERE cancelled_at IS NULL AND until_at > at)
         OR EXISTS (SELECT FROM stray_orders WHERE released_at IS NULL)
    FROM service s
$$;
