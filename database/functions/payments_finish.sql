-- Ends payments, each at most once: only a payment that is still processing changes, and only then money moves and the
-- event is written. If an order of the gateway is on record, neither an answer about another order nor an answer that
-- there is no order ends the payment. Undone (rejected) is only a young payment: a minute after its creation its request and
-- every repeat of it are answered with the payment.
-- `status` is the status now: a call that came second may have brought the opposite outcome.
--
-- Bitmap scans are off for the reason given in payments_open.sql.
CREATE OR REPLACE FUNCTION payments_finish(
  partner_ids uuid[], modes mode[], ids uuid[], outcomes payment_status[], error_codes text[], order_ids text[],
  at timestamptz
) RETURNS TABLE (item bigint, changed boolean, status payment_status)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  live_scope CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  ended payments[];
BEGIN
  PERFORM FROM (SELECT DISTINCT * FROM unnest(partner_ids, modes) AS k (partner_id, mode) ORDER BY 1, 2) AS k,
       LATERAL (SELECT FROM accounts a WHERE a.partner_id = k.partner_id AND a.mode = k.mode FOR UPDATE) AS a;

  WITH asked AS (
    SELECT DISTINCT ON (f.partner_id, f.mode, f.id) f.*
      FROM unnest(partner_ids, modes, ids, outcomes, error_codes, order_ids)
           WITH ORDINALITY AS f (partner_id, mode, id, outcome, error_code, order_id, item)
     ORDER BY f.partner_id, f.mode, f.id, f.item
  ), changes AS (
    UPDATE payments p
       SET status = f.outcome,
           rejected = f.outcome = 'rejected',
           status_detail = CASE f.outcome WHEN 'failed' THEN 'gateway_declined'::payment_detail END,
           error_code = f.error_code,
           gateway_order_id = coalesce(f.order_id, p.gateway_order_id),
           settled_at = payments_finish.at
      FROM asked f
     WHERE p.partner_id = f.partner_id AND p.mode = f.mode AND p.id = f.id AND p.status = 'processing'
       AND (f.outcome <> 'rejected' OR payments_finish.at < p.created_at + interval '45 s')
       AND (p.gateway_order_id IS NULL OR CASE
              WHEN f.outcome = 'rejected' OR f.error_code = 'not_executed' THEN false
              ELSE (f.order_id = p.gateway_order_id) IS NOT FALSE
            END)
    RETURNING p
  )
  SELECT coalesce(array_agg(c.p), '{}') INTO ended FROM changes c;

  IF cardinality(ended) > 0 THEN
    PERFORM ledger_must_post(
        array_agg(e.partner_id), array_agg(e.mode),
        array_agg(CASE e.status WHEN 'succeeded' THEN 'settle'::ledger_operation ELSE 'release' END),
        array_agg(e.id), array_agg(NULL::bigint), at)
       FROM unnest(ended) e;
    -- The turnover of the day counts no payment that failed. One of an earlier day is not in it.
    UPDATE accounts a SET turnover_kopecks = a.turnover_kopecks - n.kopecks
      FROM (SELECT e.partner_id, e.mode, (e.created_at AT TIME ZONE 'UTC')::date AS day,
                   sum(e.amount_kopecks)::bigint AS kopecks
              FROM unnest(ended) e WHERE e.status <> 'succeeded' GROUP BY 1, 2, 3) AS n
     WHERE a.partner_id = n.partner_id AND a.mode = n.mode AND a.turnover_day = n.day;
    DELETE FROM open_payments p USING unnest(ended) e
     WHERE p.payment_id = e.id AND p.qrc_id = e.qrc_id
       AND p.scope = CASE e.mode WHEN 'live' THEN live_scope ELSE e.partner_id END;
    INSERT INTO events (partner_id, mode, payment_id, at)
      SELECT e.partner_id, e.mode, e.id, payments_finish.at FROM unnest(ended) e WHERE e.status <> 'rejected';
  END IF;

  IF cardinality(ended) = cardinality(ids) THEN
    RETURN QUERY SELECT f.item, true, f.outcome FROM unnest(outcomes) WITH ORDINALITY AS f (outcome, item);
    RETURN;
  END IF;
  RETURN QUERY
    SELECT f.item, c.changed,
           CASE WHEN c.changed THEN f.outcome
                ELSE (SELECT p.status FROM all_payments p
                       WHERE p.partner_id = f.partner_id AND p.mode = f.mode AND p.id = f.id) END
      FROM (SELECT *, min(a.item) OVER (PARTITION BY a.id) AS first_item
              FROM unnest(partner_ids, modes, ids, outcomes)
                   WITH ORDINALITY AS a (partner_id, mode, id, outcome, item)) AS f,
           LATERAL (SELECT f.item = f.first_item AND EXISTS (SELECT FROM unnest(ended) e WHERE e.id = f.id)) AS c (changed);
END $$;
