-- Opens payments with locked quotes: as payments_open, or payments_open_limited for keys with a daily limit, one by one, and each
-- only if its quote is one of this partner, mode and amount that is neither used nor expired. Only payments with a quote come
-- here, so that others pay nothing for it. Accounts are locked first, then QR codes, both in their order.
--
-- A quote is used by openings of its own account alone, so the lock of the account decides which of two is first. The quote takes
-- the place of the rate in the order of refusals: after a known idempotency key, before everything else.
--
-- Once a caller was refused because the quote has expired, no opening that began earlier and waited may use it: it is ended for good.
-- Requests that are refused without an opening end it too (endExpired in src/payments/quotes/quote.ts), so its row is locked here.
--
-- `keys` and `limits` are null for keys without a daily limit. Planner settings: see payments_open.sql.
CREATE OR REPLACE FUNCTION payments_open_quoted(
  openings payment_opening[], quotes uuid[], keys text[], limits bigint[], at timestamptz, test_payments_per_day int
) RETURNS TABLE (item bigint, verdict text, payment_id uuid, balance bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET cpu_index_tuple_cost = 10
AS $$
DECLARE
  live_scope CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  next record;
  quote locked_quotes;
  is_unused boolean;
BEGIN
  PERFORM FROM (SELECT DISTINCT o.partner_id, o.mode FROM unnest(openings) o ORDER BY 1, 2) AS k,
       LATERAL (SELECT FROM accounts a WHERE a.partner_id = k.partner_id AND a.mode = k.mode FOR UPDATE) AS a;

  FOR next IN
    SELECT o.ordinality AS nth, o.partner_id, o.mode, o.id, o.idempotency_key, o.amount_kopecks, o.micro_usdt, o.rate_e4
      FROM unnest(openings) WITH ORDINALITY AS o
     ORDER BY CASE WHEN o.mode = 'live' THEN live_scope ELSE o.partner_id END, o.qrc_id, o.ordinality
  LOOP
    SELECT * INTO quote FROM locked_quotes q WHERE q.id = quotes[next.nth] AND q.partner_id = next.partner_id FOR UPDATE;
    is_unused := quote.payment_id IS NULL
      OR EXISTS (SELECT FROM payments p WHERE p.partner_id = quote.partner_id AND p.mode = quote.mode
                    AND p.id = quote.payment_id AND p.rejected);
    item := next.nth;
    balance := NULL;
    verdict := CASE
      WHEN quote.id IS NULL THEN 'quote_not_found'
      WHEN quote.mode <> next.mode THEN 'quote_mode_mismatch'
      WHEN NOT is_unused THEN 'quote_used'
      WHEN quote.expires_at <= at THEN 'quote_expired'
      WHEN quote.amount_kopecks <> next.amount_kopecks THEN 'quote_amount_mismatch'
    END;
    IF verdict IS NOT NULL THEN
      payment_id := coalesce(
        (SELECT k.id FROM payments k WHERE k.idempotency_key = next.idempotency_key AND NOT k.rejected
            AND (k.partner_id, k.mode) IS NOT DISTINCT FROM (next.partner_id, next.mode)),
        (SELECT k.payment_id FROM archived_keys k WHERE k.idempotency_key = next.idempotency_key
            AND k.partner_id = next.partner_id AND k.mode = next.mode));
      IF payment_id IS NOT NULL THEN verdict := 'known'; END IF;
      IF verdict = 'quote_expired' THEN UPDATE locked_quotes q SET expires_at = q.locked_at WHERE q.id = quote.id; END IF;
      RETURN NEXT;
      CONTINUE;
    END IF;
    IF (quote.rate_e4, quote.micro_usdt) IS DISTINCT FROM (next.rate_e4, next.micro_usdt) THEN
      RAISE EXCEPTION 'payment % does not have the terms of its quote', next.id;
    END IF;

    IF keys[next.nth] IS NULL THEN
      SELECT n.verdict, n.payment_id, n.balance INTO verdict, payment_id, balance
        FROM payments_open(ARRAY[openings[next.nth]], at, test_payments_per_day) AS n;
    ELSE
      SELECT n.verdict, n.payment_id, n.balance INTO verdict, payment_id, balance
        FROM payments_open_limited(ARRAY[openings[next.nth]], ARRAY[keys[next.nth]], ARRAY[limits[next.nth]], at,
                                   test_payments_per_day) AS n;
    END IF;
    IF verdict = 'opened' THEN
      UPDATE locked_quotes q SET payment_id = next.id WHERE q.id = quote.id;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;
