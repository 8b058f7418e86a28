-- What refuses a payment before any of it is written: the first reason in the order that the API promises, or null. It is asked when a
-- payment is opened; before the gateway is asked about a code; and before a request is refused for what only its caller knows, such as
-- its amount. What is not known yet is null.
--
-- The same request may arrive twice at once, and its own payment has used the quote that refuses this one: the key is looked up again.
CREATE OR REPLACE FUNCTION payment_refusal(
  partner uuid, in_mode mode, key text, names text[], code text, newest_rate_id bigint, with_quote uuid,
  kopecks bigint, usdt bigint, at_rate_e4 bigint, at timestamptz
) RETURNS opening_verdict
LANGUAGE plpgsql AS $$
DECLARE
  refusal opening_verdict;
BEGIN
  IF (SELECT k.payment_id FROM payment_of_key(partner, in_mode, key) k) IS NOT NULL THEN RETURN 'known'; END IF;
  SELECT CASE
           WHEN s.maintenance
             OR EXISTS (SELECT FROM incarnations WHERE opened_at IS NULL)
             OR EXISTS (SELECT FROM maintenance_windows w WHERE w.cancelled_at IS NULL AND w.from_at <= at AND w.until_at > at)
             THEN 'maintenance'::opening_verdict
           -- An order without a payment is of this request; or it is of this partner, and the next top-up is for it.
           WHEN in_mode = 'live' AND EXISTS (SELECT FROM stray_orders o WHERE o.released_at IS NULL AND o.partner_id = partner
                                                AND (o.idempotency_key = key OR o.why = 'insufficient_balance'))
             THEN 'maintenance'
           WHEN with_quote IS NOT NULL THEN quote_refusal(with_quote, partner, in_mode, kopecks, usdt, at_rate_e4, at)
           WHEN newest_rate_id <> (SELECT r.id FROM rates r ORDER BY r.id DESC LIMIT 1) THEN 'rate_changed'
         END INTO refusal FROM service s;
  IF refusal IS NULL THEN
    refusal := CASE
      WHEN EXISTS (SELECT FROM blocked_recipients b WHERE b.recipient = ANY (names)) THEN 'recipient_blocked'::opening_verdict
      WHEN in_mode = 'live' AND EXISTS (SELECT FROM stray_orders o WHERE o.released_at IS NULL AND o.qrc_id = code)
        THEN 'duplicate_qr_in_flight'
    END;
  END IF;
  RETURN CASE WHEN refusal IS NOT NULL AND (SELECT k.payment_id FROM payment_of_key(partner, in_mode, key) k) IS NOT NULL
              THEN 'known' ELSE refusal END;
END $$;
