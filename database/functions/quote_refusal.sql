-- Why a payment cannot have the locked quote that it names; null if it can. A quote is used by openings of its own account alone, so the
-- lock of the account decides which of two is first. Requests that are refused without an opening end an expired quote
-- (endExpired in src/payments/quotes/quote.ts), so its row is locked here.
CREATE OR REPLACE FUNCTION quote_refusal(
  quote_id uuid, partner uuid, in_mode mode, kopecks bigint, usdt bigint, payment_rate_e4 bigint, at timestamptz
) RETURNS opening_verdict
LANGUAGE plpgsql AS $$
DECLARE
  quote locked_quotes;
BEGIN
  SELECT * INTO quote FROM locked_quotes q WHERE q.id = quote_id AND q.partner_id = partner FOR UPDATE;
  IF quote.id IS NULL THEN RETURN 'quote_not_found'; END IF;
  IF quote.mode <> in_mode THEN RETURN 'quote_mode_mismatch'; END IF;
  IF NOT EXISTS (SELECT FROM unused_quotes u WHERE u.id = quote.id) THEN RETURN 'quote_used'; END IF;
  IF quote.expires_at <= at THEN RETURN 'quote_expired'; END IF;
  IF quote.amount_kopecks <> kopecks THEN RETURN 'quote_amount_mismatch'; END IF;
  IF (quote.rate_e4, quote.micro_usdt) IS DISTINCT FROM (payment_rate_e4, usdt) THEN
    RAISE EXCEPTION 'a payment does not have the terms of its quote %', quote_id;
  END IF;
  RETURN NULL;
END $$;
