-- Books refunds of payments of one mode, each once: from settled back to available, at the rate of the payment. The payment
-- itself, which may be archived, does not change.
--
-- What is returned is computed from the total: of a payment of K kopecks for M micro-USDT, k kopecks are worth M × k / K, rounded
-- down. So parts that add up to the payment return exactly what was debited, whatever their order and number.
--
-- Refunds are rare: they are decided and booked one after the other, under the locks of their accounts.
CREATE OR REPLACE FUNCTION payments_refund(
  in_mode mode, refund_ids text[], payment_ids uuid[], amounts bigint[], refunded_ats timestamptz[], at timestamptz
) RETURNS TABLE (item bigint, verdict refund_verdict)
LANGUAGE plpgsql AS $$
DECLARE
  next record;
  known refunds;
  paid record;
  book accounts;
  before_kopecks bigint;
  before_micro_usdt bigint;
  new_micro_usdt bigint;
  new_reference text;
  new_event bigint;
BEGIN
  -- A delivery whose payment is pruned meanwhile would be due without end.
  IF in_mode = 'test' THEN PERFORM wait_for_test_pruning(); END IF;
  PERFORM FROM (SELECT DISTINCT p.partner_id FROM unnest(payment_ids) AS k (id), LATERAL (
                       SELECT p.partner_id FROM payment_of_anyone(in_mode, k.id) p) AS p
                 ORDER BY 1) AS k,
       LATERAL (SELECT FROM accounts a WHERE a.partner_id = k.partner_id AND a.mode = in_mode FOR UPDATE) AS a;

  FOR next IN
    SELECT r.* FROM unnest(refund_ids, payment_ids, amounts, refunded_ats)
           WITH ORDINALITY AS r (refund_id, payment_id, amount, refunded_at, nth)
     ORDER BY r.nth
  LOOP
    item := next.nth;
    SELECT * INTO known FROM refunds r WHERE r.refund_id = next.refund_id;
    IF FOUND THEN
      verdict := CASE WHEN known.payment_id = next.payment_id AND known.amount_kopecks = next.amount
                      THEN 'known'::refund_verdict ELSE 'conflict' END;
      RETURN NEXT;
      CONTINUE;
    END IF;

    SELECT p.partner_id, p.status, p.amount_kopecks, p.micro_usdt INTO paid
      FROM payment_of_anyone(in_mode, next.payment_id) p;
    SELECT coalesce(max(r.total_kopecks), 0), coalesce(max(r.total_micro_usdt), 0) INTO before_kopecks, before_micro_usdt
      FROM refunds r WHERE r.payment_id = next.payment_id;
    new_reference := 'refund:' || next.refund_id;
    verdict := CASE
      WHEN paid.partner_id IS NULL THEN 'no_payment'::refund_verdict
      WHEN paid.status = 'processing' THEN 'not_paid_yet'
      WHEN paid.status <> 'succeeded' THEN 'not_paid'
      WHEN before_kopecks + next.amount > paid.amount_kopecks THEN 'too_much'
      WHEN EXISTS (SELECT FROM entries e WHERE e.reference = new_reference AND e.partner_id = paid.partner_id AND e.mode = in_mode)
        OR EXISTS (SELECT FROM archived_references e
                    WHERE e.reference = new_reference AND e.partner_id = paid.partner_id AND e.mode = in_mode)
        THEN 'reference_taken'
      ELSE 'booked'
    END;
    RETURN NEXT;
    CONTINUE WHEN verdict <> 'booked';

    new_micro_usdt := div(paid.micro_usdt::numeric * (before_kopecks + next.amount), paid.amount_kopecks)
                      - before_micro_usdt;
    -- Read again: the refund before it may be of the same account.
    SELECT * INTO book FROM accounts a WHERE a.partner_id = paid.partner_id AND a.mode = in_mode;
    IF new_micro_usdt > 0 THEN
      book.entry_count := book.entry_count + 1;
      INSERT INTO entries (partner_id, mode, entry_no, from_account, to_account, micro_usdt, from_after, to_after, reference,
                           created_at)
        VALUES (book.partner_id, in_mode, book.entry_count, 'settled', 'available', new_micro_usdt,
                book.settled - new_micro_usdt, book.available + new_micro_usdt, new_reference,
                greatest(payments_refund.at, book.last_entry_at));
      UPDATE accounts a
         SET settled = a.settled - new_micro_usdt, available = a.available + new_micro_usdt,
             entry_count = book.entry_count, last_entry_at = greatest(payments_refund.at, a.last_entry_at)
       WHERE a.partner_id = book.partner_id AND a.mode = in_mode;
    END IF;
    -- Under the lock of the account, as the numbers of its other events.
    new_event := nextval(pg_get_serial_sequence('events', 'id'));
    INSERT INTO refunds (partner_id, mode, payment_id, refund_id, amount_kopecks, micro_usdt, total_kopecks, total_micro_usdt,
                         entry_no, event_id, refunded_at, booked_at)
      VALUES (book.partner_id, in_mode, next.payment_id, next.refund_id, next.amount, new_micro_usdt,
              before_kopecks + next.amount, before_micro_usdt + new_micro_usdt,
              CASE WHEN new_micro_usdt > 0 THEN book.entry_count END, new_event, next.refunded_at, payments_refund.at);
    INSERT INTO deliveries (endpoint_id, event_id, partner_id, mode, payment_id, next_at)
      SELECT w.endpoint_id, new_event, w.partner_id, in_mode, next.payment_id, payments_refund.at FROM endpoints w
       WHERE w.partner_id = book.partner_id AND (w.is_first OR w.mode = in_mode) AND 'payment.refunded' = ANY (w.events);
  END LOOP;
END $$;
