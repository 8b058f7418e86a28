-- Rebuilds payments that this database has forgotten, from the orders of the bank side: as processing, with their own ids,
-- keys, amounts and times, and their money held. Polling then finds the outcome, as for any payment.
--
-- The checks of payments_open that protect the service (rate, limits) do not apply: the bank side has the order. Those that
-- protect the books do. 'qr_in_flight' passes: an earlier payment of the code, finished in the lost history, is still
-- open here, and ends with its next poll.
CREATE OR REPLACE FUNCTION payments_recover(
  forgotten payment_opening[], created_ats timestamptz[], order_ids text[], order_states text[], in_incarnation int,
  at timestamptz
) RETURNS TABLE (item bigint, verdict recovery_verdict)
LANGUAGE plpgsql
AS $$
DECLARE
  next record;
  book accounts;
  created_day date;
BEGIN
  PERFORM FROM (SELECT DISTINCT f.partner_id, f.mode FROM unnest(forgotten) f ORDER BY 1, 2) AS k,
       LATERAL (SELECT FROM accounts a WHERE a.partner_id = k.partner_id AND a.mode = k.mode FOR UPDATE) AS a;

  FOR next IN
    SELECT f.*, code_scope(f.mode, f.partner_id) AS scope, f.ordinality AS nth
      FROM unnest(forgotten) WITH ORDINALITY AS f ORDER BY f.ordinality
  LOOP
    item := next.nth;
    SELECT * INTO book FROM accounts a WHERE a.partner_id = next.partner_id AND a.mode = next.mode;
    verdict := CASE
      WHEN EXISTS (SELECT FROM payment_anywhere(next.partner_id, next.mode, next.id))
        THEN 'known'::recovery_verdict
      WHEN book.partner_id IS NULL THEN 'no_account'
      WHEN (SELECT k.payment_id FROM payment_of_key(next.partner_id, next.mode, next.idempotency_key) k) IS NOT NULL
        THEN 'key_taken'
      WHEN EXISTS (SELECT FROM open_payments o WHERE o.scope = next.scope AND o.qrc_id = next.qrc_id) THEN 'qr_in_flight'
      WHEN book.available < next.micro_usdt THEN 'insufficient_balance'
      ELSE 'recovered'
    END;
    RETURN NEXT;
    CONTINUE WHEN verdict <> 'recovered';

    INSERT INTO open_payments (scope, qrc_id, partner_id, mode, payment_id, awaiting_gateway, next_at)
      VALUES (next.scope, next.qrc_id, next.partner_id, next.mode, next.id, true, at);
    PERFORM ledger_must_post(ARRAY[next.partner_id], ARRAY[next.mode], ARRAY['hold'::ledger_operation], ARRAY[next.id],
                             ARRAY[next.micro_usdt], at);
    INSERT INTO payments (partner_id, mode, id, status, status_detail, idempotency_key, request_hash, external_id, qrc_id,
                          qr_url, fingerprint, recipient, amount_kopecks, micro_usdt, rate_e4, rate_id, metadata, created_at)
      VALUES (next.partner_id, next.mode, next.id, 'processing', 'awaiting_gateway', next.idempotency_key,
              next.request_hash, next.external_id, next.qrc_id, next.qr_url, next.fingerprint, next.recipient,
              next.amount_kopecks, next.micro_usdt, next.rate_e4, next.rate_id, next.metadata, created_ats[next.nth]);
    INSERT INTO recovered_payments (payment_id, partner_id, mode, incarnation, order_id, order_state, recovered_at)
      VALUES (next.id, next.partner_id, next.mode, in_incarnation, order_ids[next.nth], order_states[next.nth], at);

    -- The counter of payments_open is for the latest day of any opening; without one, the next opening adds the day up.
    created_day := (created_ats[next.nth] AT TIME ZONE 'UTC')::date;
    UPDATE accounts a
       SET turnover_day = created_day,
           turnover_kopecks = CASE WHEN a.turnover_day = created_day THEN a.turnover_kopecks ELSE 0 END + next.amount_kopecks,
           opened_on_day = CASE WHEN a.turnover_day = created_day THEN a.opened_on_day ELSE 0 END + 1
     WHERE a.partner_id = next.partner_id AND a.mode = next.mode AND a.turnover_day <= created_day;
  END LOOP;
END $$;
