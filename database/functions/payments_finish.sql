-- Ends payments, each at most once: only a payment that is still processing changes, and only then money moves and the
-- event is written. If an order of the gateway is on record, neither an answer about another order nor an answer that
-- there is no order ends the payment. Undone (rejected) is only a young payment, since a minute after its creation its request and
-- every repeat of it are answered with the payment; or one that a lost history has undone.
-- `status` is the status now: a call that came second may have brought the opposite outcome.
--
-- Planner settings: see payments_open.sql.
CREATE OR REPLACE FUNCTION payments_finish(
  partner_ids uuid[], modes mode[], ids uuid[], outcomes payment_status[], error_codes text[], order_ids text[],
  at timestamptz
) RETURNS TABLE (item bigint, changed boolean, status payment_status)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET cpu_index_tuple_cost = 10
AS $$
DECLARE
  ended uuid[];
BEGIN
  PERFORM FROM (SELECT DISTINCT * FROM unnest(partner_ids, modes) AS k (partner_id, mode) ORDER BY 1, 2) AS k,
       LATERAL (SELECT FROM accounts a WHERE a.partner_id = k.partner_id AND a.mode = k.mode FOR UPDATE) AS a;

  WITH asked AS (
    SELECT DISTINCT ON (f.partner_id, f.mode, f.id) f.*
      FROM unnest(partner_ids, modes, ids, outcomes, error_codes, order_ids)
           WITH ORDINALITY AS f (partner_id, mode, id, outcome, error_code, order_id, nth)
     WHERE f.nth BETWEEN 1 AND cardinality(ids)
     ORDER BY f.partner_id, f.mode, f.id, f.nth
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
       AND (f.outcome <> 'rejected' OR payments_finish.at < p.created_at + interval '45 s'
            OR payment_is_superseded(p.partner_id, p.mode, p.id))
       AND (p.gateway_order_id IS NULL OR CASE
              WHEN f.outcome = 'rejected' OR f.error_code = 'not_executed' THEN false
              ELSE (f.order_id = p.gateway_order_id) IS NOT FALSE
            END)
    RETURNING f.nth, p.partner_id, p.mode, p.id, p.status, p.qrc_id, p.amount_kopecks, p.created_at
  ), held AS MATERIALIZED (
    -- The amount is that of the hold. A payment without one fails the whole call: the amount of an entry is never null.
    SELECT c.*, a.available, a.held, a.settled, a.entry_count, a.turnover_day,
           greatest(payments_finish.at, a.last_entry_at) AS entry_at, h.micro_usdt,
           CASE WHEN c.status = 'succeeded' THEN h.micro_usdt ELSE 0 END AS spent
      FROM changes c,
           LATERAL (SELECT * FROM accounts a WHERE a.partner_id = c.partner_id AND a.mode = c.mode) AS a,
           LATERAL (SELECT (SELECT e.micro_usdt FROM entries e WHERE e.payment_id = c.id AND e.from_account = 'available'
                               AND (e.partner_id, e.mode) IS NOT DISTINCT FROM (c.partner_id, c.mode)) AS micro_usdt
                    -- Else the planner reads the entry once for every use of its amount.
                    OFFSET 0) AS h
  ), posted AS (
    INSERT INTO entries (partner_id, mode, entry_no, from_account, to_account, micro_usdt, from_after, to_after, payment_id,
                         created_at)
      SELECT h.partner_id, h.mode, h.entry_count + row_number() OVER so_far, 'held',
             CASE h.status WHEN 'succeeded' THEN 'settled'::account ELSE 'available' END, h.micro_usdt,
             h.held - sum(h.micro_usdt) OVER so_far,
             CASE h.status WHEN 'succeeded' THEN h.settled + sum(h.spent) OVER so_far
                           ELSE h.available + sum(h.micro_usdt - h.spent) OVER so_far END,
             h.id, h.entry_at
        FROM held h
      WINDOW so_far AS (PARTITION BY h.partner_id, h.mode ORDER BY h.nth)
  ), books AS (
    -- The turnover of the day counts no payment that failed. One of an earlier day is not in it.
    UPDATE accounts a
       SET available = a.available + n.micro_usdt - n.spent, held = a.held - n.micro_usdt, settled = a.settled + n.spent,
           entry_count = a.entry_count + n.entries, last_entry_at = n.entry_at,
           turnover_kopecks = a.turnover_kopecks - n.failed_kopecks
      FROM (SELECT h.partner_id, h.mode, h.entry_at, count(*) AS entries, sum(h.micro_usdt) AS micro_usdt,
                   sum(h.spent) AS spent,
                   coalesce(sum(h.amount_kopecks) FILTER (
                     WHERE h.status <> 'succeeded' AND (h.created_at AT TIME ZONE 'UTC')::date = h.turnover_day), 0)
                     AS failed_kopecks
              FROM held h GROUP BY h.partner_id, h.mode, h.entry_at) AS n
     WHERE a.partner_id = n.partner_id AND a.mode = n.mode
  ), closed AS (
    DELETE FROM open_payments p USING held h
     WHERE p.payment_id IS NOT DISTINCT FROM h.id AND p.qrc_id = h.qrc_id
       AND p.scope = code_scope(h.mode, h.partner_id)
  ), announced AS (
    INSERT INTO events (partner_id, mode, payment_id, at)
      SELECT h.partner_id, h.mode, h.id, payments_finish.at FROM held h WHERE h.status <> 'rejected' ORDER BY h.nth
      RETURNING events.partner_id, events.id, events.mode, events.payment_id, events.at
  ), queued AS (
    -- The outbox of webhooks. A delivery is due at the time of its event, so that new events and retries take turns.
    -- The status is looked up only for endpoints that do not get all events of the contract.
    INSERT INTO deliveries (endpoint_id, event_id, partner_id, mode, payment_id, next_at)
      SELECT w.endpoint_id, n.id, n.partner_id, n.mode, n.payment_id, n.at
        FROM announced n JOIN endpoints w ON w.partner_id = n.partner_id AND (w.is_first OR w.mode = n.mode)
       WHERE w.is_first OR 'payment.' || (SELECT h.status FROM held h WHERE h.id = n.payment_id)::text = ANY (w.events)
  )
  SELECT coalesce(array_agg(h.id), '{}') INTO ended FROM held h;

  IF cardinality(ended) = cardinality(ids) THEN
    RETURN QUERY SELECT f.item, true, f.outcome FROM unnest(outcomes) WITH ORDINALITY AS f (outcome, item);
    RETURN;
  END IF;
  RETURN QUERY
    SELECT f.item, c.changed,
           CASE WHEN c.changed THEN f.outcome
                ELSE (SELECT p.status FROM payment_anywhere(f.partner_id, f.mode, f.id) p) END
      FROM (SELECT *, min(a.item) OVER (PARTITION BY a.id) AS first_item
              FROM unnest(partner_ids, modes, ids, outcomes)
                   WITH ORDINALITY AS a (partner_id, mode, id, outcome, item)) AS f,
           LATERAL (SELECT f.item = f.first_item AND f.id = ANY (ended)) AS c (changed);
END $$;
