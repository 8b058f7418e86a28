-- At most `most` payments of an account, newest first: with ids from `from_id` on and before `before_id`.
--
-- A function, for its planner settings: the plan is made once per session and suits every account. Only the primary key has the
-- order by all three columns, so without sorts it is the index that is read, from its end.
CREATE OR REPLACE FUNCTION payments_page(of_partner uuid, of_mode mode, from_id uuid, before_id uuid, most int)
RETURNS TABLE (
  id uuid, partner_id uuid, mode mode, status payment_status, status_detail payment_detail, idempotency_key text,
  request_hash bytea, external_id text, qrc_id text, qr_url text, fingerprint text, recipient text, amount_kopecks bigint,
  micro_usdt bigint, rate_e4 bigint, metadata text, gateway_order_id text, error_code text, created_at timestamptz,
  settled_at timestamptz
)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET enable_incremental_sort = off
AS $$
BEGIN
  RETURN QUERY
    SELECT p.id, p.partner_id, p.mode, p.status, p.status_detail, p.idempotency_key, p.request_hash, p.external_id, p.qrc_id,
           p.qr_url, p.fingerprint, p.recipient, p.amount_kopecks, p.micro_usdt, p.rate_e4, p.metadata, p.gateway_order_id,
           p.error_code, p.created_at, p.settled_at
      FROM payments p
     WHERE (p.partner_id, p.mode, p.id) >= (of_partner, of_mode, from_id)
       AND (p.partner_id, p.mode, p.id) < (of_partner, of_mode, before_id) AND NOT p.rejected
     ORDER BY p.partner_id DESC, p.mode DESC, p.id DESC LIMIT most;
END $$;
