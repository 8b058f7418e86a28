-- Locks the rates of quotes; see docs/internals/quotes.md. Each is refused that would bring the unused quotes of its partner and
-- mode, or all live ones, above what may be exposed; and each whose rate has become stale on the way here.
--
-- Callers wait for each other, so that two at once cannot pass a limit together. Openings do not wait: they only lower the sums.
CREATE OR REPLACE FUNCTION quotes_lock(
  ids uuid[], partner_ids uuid[], modes mode[], amounts_kopecks bigint[], amounts_usdt bigint[], rates_e4 bigint[],
  rate_ids bigint[], rates_stale_at timestamptz[], in_spread_bps int, at timestamptz, until timestamptz,
  max_of_partner bigint, max_of_all bigint
) RETURNS TABLE (item bigint, verdict text)
LANGUAGE plpgsql
AS $$
DECLARE
  next record;
  account text;
  of_account bigint;
  of_all bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('quotes_lock'));
  of_all := (SELECT coalesce(sum(q.micro_usdt), 0) FROM unused_quotes q WHERE q.expires_at > at AND q.mode = 'live');

  FOR next IN
    SELECT nth, ids[nth] AS id, partner_ids[nth] AS partner_id, modes[nth] AS mode, amounts_usdt[nth] AS micro_usdt
      FROM generate_subscripts(ids, 1) AS nth ORDER BY 3, 4, 1
  LOOP
    IF account IS DISTINCT FROM next.partner_id || ' ' || next.mode THEN
      account := next.partner_id || ' ' || next.mode;
      of_account := (SELECT coalesce(sum(q.micro_usdt), 0) FROM unused_quotes q
                      WHERE q.expires_at > at AND q.partner_id = next.partner_id AND q.mode = next.mode);
    END IF;
    item := next.nth;
    verdict := CASE
      WHEN rates_stale_at[next.nth] < at THEN 'rate_unavailable'
      WHEN of_account + next.micro_usdt > max_of_partner THEN 'quote_limit_exceeded'
      WHEN next.mode = 'live' AND of_all + next.micro_usdt > max_of_all THEN 'quote_limit_exceeded'
      ELSE 'locked'
    END;
    RETURN NEXT;
    CONTINUE WHEN verdict <> 'locked';
    INSERT INTO locked_quotes (id, partner_id, mode, amount_kopecks, micro_usdt, rate_e4, rate_id, spread_bps, locked_at,
                               expires_at)
      VALUES (next.id, next.partner_id, next.mode, amounts_kopecks[next.nth], next.micro_usdt, rates_e4[next.nth],
              rate_ids[next.nth], in_spread_bps, at, until);
    of_account := of_account + next.micro_usdt;
    IF next.mode = 'live' THEN of_all := of_all + next.micro_usdt; END IF;
  END LOOP;
END $$;
