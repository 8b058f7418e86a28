-- Why a payment cannot have the locked quote that it names; null if it can. A quote is used by openings of its own account alone, so the
-- lock of the account decides which of two is first.
--
-- Once a caller was refused because the quote has expired, no opening that began earlier and waited may use it: it is ended for good.
-- An opening that has the quote but has not committed is waited for.
CREATE OR REPLACE FUNCTION quote_refusal(
  quote_id uuid, partner uuid, in_mode mode, kopecks bigint, usdt bigint, at_rate_e4 bigint, at timestamptz
) RETURNS opening_verdict
LANGUAGE plpgsql AS $$
DECLARE
  quote locked_quotes;
BEGIN
  SELECT * INTO quote FROM locked_quotes q WHERE q.id = quote_id AND q.partner_id = partner FOR UPDATE;
  IF quote.id IS NULL THEN RETURN 'quote_not_found'; END IF;
  IF quote.mode <> in_mode THEN RETURN 'quote_mode_mismatch'; END IF;
  IF NOT EXISTS (SELECT FROM unused_quotes u WHERE u.id = quote.id) THEN RETURN 'quote_used'; END IF;
  IF quote.expires_at <= at THEN
    UPDATE locked_quotes q SET expires_at = q.locked_at WHERE q.id = quote.id AND q.expires_at > q.locked_at;
    RETURN 'quote_expired';
  END IF;
  IF quote.amount_kopecks <> kopecks THEN RETURN 'quote_amount_mismatch'; END IF;
  IF quote.micro_usdt <> usdt OR quote.rate_e4 <> at_rate_e4 THEN
    RAISE EXCEPTION 'a payment does not have the terms of its quote %', quote_id;
  END IF;
  RETURN NULL;
END $$;
