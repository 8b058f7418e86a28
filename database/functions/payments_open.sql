-- Opens payments: decides in one transaction whether each may go ahead, and if so holds its amount. A payment with an outcome
-- (of test mode) also ends here, so that it costs one statement.
--
-- Locks are taken in one order: accounts by their key, then QR codes by theirs.
--
-- A payment with unchecked_name is opened only if nothing stops payments, its rate is the newest and its recipient is not blocked.
-- These are the reads that a caller makes one by one to refuse a payment with the right code; almost none is refused.
--
-- If nothing stands in the way of any payment of an account, all of them are opened by the one statement below. An account
-- with anything unusual (a known key, a key or code that comes twice, a limit that is near) is left to payments_open_singly,
-- which decides item by item. Both have the same rules: what is opened together could have been opened one by one.
--
-- The daily limit counts the processing and succeeded payments that were created since the day of `at` began (UTC). Their
-- sum is kept in the account (turnover_day, turnover_kopecks), with and without a limit, and payments_finish takes out
-- what failed: to add up 300 000 payments took 100 ms under the lock. turnover_day is the latest day of any opening and
-- never goes back. If `at` is of an earlier day (a clock was ahead), the day is added up from the payments.
--
-- The quota of test mode counts every payment opened that day, whatever its outcome (opened_on_day): a test payment that
-- fails costs nothing, but its rows stay. Null: no quota.
--
-- Bitmap scans are off. A bitmap scan reads every dead row of a key until the next vacuum and marks none of them as dead.
-- Rows of these tables come and go with each payment, so a busy partner would pay for its past. Plain index scans skip
-- the rows that an earlier scan found dead.
--
-- A plan that is made while a table is small must suit it when it has grown: the plan stays until the statistics are new. So the
-- planner must not prefer to read a whole table, however few rows it has. Hash and merge joins are off; every row that is read
-- from an index is dear; the condition BETWEEN 1 AND cardinality(…), which is always true, makes it expect one item; and IS NOT
-- DISTINCT FROM, which cannot use an index, leaves it only the one index that suits.
CREATE OR REPLACE FUNCTION payments_open(openings payment_opening[], at timestamptz, test_payments_per_day int)
RETURNS TABLE (item bigint, verdict opening_verdict, payment_id uuid, balance bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET cpu_index_tuple_cost = 10
AS $$
DECLARE
  live_scope CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  today CONSTANT date := at AT TIME ZONE 'UTC';
  newest_rate bigint;
  is_stopped boolean;
  has_stray_orders boolean;
  objections bigint[];
  unusual bigint[];
  has_ended boolean;
  deliveries_by text;
BEGIN
  PERFORM FROM (SELECT DISTINCT o.partner_id, o.mode FROM unnest(openings) o ORDER BY 1, 2) AS k,
       LATERAL (SELECT FROM accounts a WHERE a.partner_id = k.partner_id AND a.mode = k.mode FOR UPDATE) AS a;

  IF EXISTS (SELECT FROM unnest(openings) o WHERE o.unchecked_name IS NOT NULL) THEN
    SELECT (SELECT r.id FROM rates r ORDER BY r.id DESC LIMIT 1),
           s.maintenance OR EXISTS (SELECT FROM incarnations WHERE opened_at IS NULL)
             OR EXISTS (SELECT FROM maintenance_windows w WHERE w.cancelled_at IS NULL AND w.from_at <= at AND w.until_at > at),
           EXISTS (SELECT FROM stray_orders WHERE released_at IS NULL)
      INTO newest_rate, is_stopped, has_stray_orders FROM service s;
    SELECT array_agg(o.ordinality) INTO objections FROM unnest(openings) WITH ORDINALITY AS o
     WHERE o.unchecked_name IS NOT NULL
       AND (is_stopped OR o.rate_id IS DISTINCT FROM newest_rate OR (has_stray_orders AND o.mode = 'live')
            OR (SELECT b.recipient FROM blocked_recipients b
                 WHERE b.recipient IN (o.unchecked_name, o.unchecked_id) LIMIT 1) IS NOT NULL);
  END IF;

  WITH asked AS MATERIALIZED (
    -- `kept` stays held if the payment goes on, `settled_now` if it has succeeded, and nothing is spent if it has failed.
    SELECT o.*, o.ordinality AS nth, s.scope,
           CASE WHEN o.outcome IS NULL THEN o.micro_usdt ELSE 0 END AS kept,
           CASE WHEN o.outcome = 'succeeded' THEN o.micro_usdt ELSE 0 END AS settled_now,
           CASE WHEN o.outcome IS DISTINCT FROM 'failed' THEN o.micro_usdt ELSE 0 END AS spent,
           -- Not with NOT EXISTS, for which the planner may read the whole index.
           (SELECT k.id FROM payments k WHERE k.idempotency_key = o.idempotency_key AND NOT k.rejected
               AND (k.partner_id, k.mode) IS NOT DISTINCT FROM (o.partner_id, o.mode)) IS NOT NULL
             OR (SELECT k.payment_id FROM archived_keys k WHERE k.idempotency_key = o.idempotency_key
                    AND k.partner_id = o.partner_id AND k.mode = o.mode) IS NOT NULL AS is_known,
           count(*) OVER (PARTITION BY o.partner_id, o.mode, o.idempotency_key) > 1
             OR count(*) OVER (PARTITION BY s.scope, o.qrc_id) > 1 AS comes_twice
      FROM unnest(openings) WITH ORDINALITY AS o,
           LATERAL (SELECT CASE o.mode WHEN 'live' THEN live_scope ELSE o.partner_id END AS scope) AS s
     WHERE o.ordinality BETWEEN 1 AND cardinality(openings) AND (o.ordinality <> ALL (objections)) IS NOT FALSE
  ), reserved AS (
    -- A payment that ends here needs no row: its account is locked, and no other account has its codes in test mode.
    INSERT INTO open_payments (scope, qrc_id, partner_id, mode, payment_id, awaiting_gateway, next_at, lease_holder)
      SELECT DISTINCT ON (o.scope, o.qrc_id) o.scope, o.qrc_id, o.partner_id, o.mode, o.id, true, o.next_at, o.lease_holder
        FROM asked o WHERE NOT o.is_known AND o.outcome IS NULL ORDER BY o.scope, o.qrc_id, o.nth
      ON CONFLICT DO NOTHING
      RETURNING open_payments.payment_id AS id
  ), in_turn AS (
    -- What the payments of an account have done to it, up to and with each.
    SELECT o.*, a.available, a.held, a.settled, a.entry_count, a.turnover_day, a.turnover_kopecks, a.opened_on_day,
           greatest(at, a.last_entry_at) AS entry_at, l.concurrent, l.daily_kopecks,
           row_number() OVER so_far AS turn,
           sum(o.kept) OVER so_far AS kept_so_far, sum(o.settled_now) OVER so_far AS settled_so_far,
           sum(o.spent) OVER so_far AS spent_so_far, count(o.outcome) OVER so_far AS endings_so_far,
           -- Counted once for an account.
           CASE row_number() OVER so_far WHEN 1 THEN (
             SELECT count(*) FROM open_payments p
              WHERE p.partner_id = o.partner_id AND p.mode IS NOT DISTINCT FROM o.mode AND p.awaiting_gateway) END AS under_way,
           NOT o.is_known AND NOT o.comes_twice AND o.rate_stale_at >= at
             AND CASE WHEN o.outcome IS NULL THEN o.id IN (SELECT r.id FROM reserved r)
                      ELSE (SELECT p.payment_id FROM open_payments p
                             WHERE p.scope = o.scope AND p.qrc_id = o.qrc_id) IS NULL END AS is_usual
      FROM asked o
      LEFT JOIN accounts a ON a.partner_id = o.partner_id AND a.mode = o.mode
      LEFT JOIN partners l ON l.id = o.partner_id
    WINDOW so_far AS (PARTITION BY o.partner_id, o.mode ORDER BY o.nth)
  ), judged AS MATERIALIZED (
    SELECT o.*,
           (o.are_usual AND o.available >= o.wanted_usdt AND o.turnover_day = today
             AND (o.turnover_kopecks + o.wanted_kopecks <= o.daily_kopecks) IS NOT FALSE
             AND (o.mode <> 'test' OR (o.opened_on_day + o.payments <= test_payments_per_day) IS NOT FALSE)
             AND o.concurrent >= o.payments + o.all_under_way) IS TRUE AS is_opened
      FROM (SELECT t.*, bool_and(t.is_usual) OVER account AS are_usual, count(*) OVER account AS payments,
                   max(t.under_way) OVER account AS all_under_way, sum(t.micro_usdt) OVER account AS wanted_usdt,
                   sum(t.amount_kopecks) OVER account AS wanted_kopecks,
                   sum(t.amount_kopecks) FILTER (WHERE t.outcome IS DISTINCT FROM 'failed') OVER account AS kopecks
              FROM in_turn t WINDOW account AS (PARTITION BY t.partner_id, t.mode)) AS o
  ), new_payments AS (
    INSERT INTO payments (partner_id, mode, id, status, status_detail, idempotency_key, request_hash, external_id, qrc_id,
                          qr_url, fingerprint, recipient, amount_kopecks, micro_usdt, rate_e4, rate_id, metadata, created_at,
                          error_code, settled_at)
      SELECT o.partner_id, o.mode, o.id, coalesce(o.outcome, 'processing'),
             CASE WHEN o.outcome IS NULL THEN 'awaiting_gateway'::payment_detail
                  WHEN o.outcome = 'failed' THEN 'gateway_declined' END,
             o.idempotency_key, o.request_hash, o.external_id, o.qrc_id, o.qr_url, o.fingerprint, o.recipient,
             o.amount_kopecks, o.micro_usdt, o.rate_e4, o.rate_id, o.metadata, at, o.error_code,
             CASE WHEN o.outcome IS NOT NULL THEN at END
        FROM judged o WHERE o.is_opened
  ), new_entries AS (
    -- The hold, and the entry that ends it. Before it, others have kept and spent what is theirs.
    INSERT INTO entries (partner_id, mode, entry_no, from_account, to_account, micro_usdt, from_after, to_after, payment_id,
                         created_at)
      SELECT o.partner_id, o.mode, o.entry_count + o.turn + o.endings_so_far - (o.outcome IS NOT NULL)::int,
             'available'::account, 'held'::account, o.micro_usdt,
             o.available - o.spent_so_far + o.spent - o.micro_usdt, o.held + o.kept_so_far - o.kept + o.micro_usdt,
             o.id, o.entry_at
        FROM judged o WHERE o.is_opened
      UNION ALL
      SELECT o.partner_id, o.mode, o.entry_count + o.turn + o.endings_so_far,
             'held', CASE o.outcome WHEN 'succeeded' THEN 'settled'::account ELSE 'available' END, o.micro_usdt,
             o.held + o.kept_so_far,
             CASE o.outcome WHEN 'succeeded' THEN o.settled + o.settled_so_far ELSE o.available - o.spent_so_far END,
             o.id, o.entry_at
        FROM judged o WHERE o.is_opened AND o.outcome IS NOT NULL
  ), new_books AS (
    -- The last payment of an account has its sums.
    UPDATE accounts a
       SET available = a.available - o.spent_so_far, held = a.held + o.kept_so_far, settled = a.settled + o.settled_so_far,
           entry_count = a.entry_count + o.payments + o.endings_so_far, last_entry_at = o.entry_at,
           turnover_kopecks = a.turnover_kopecks + coalesce(o.kopecks, 0), opened_on_day = a.opened_on_day + o.payments
      FROM judged o
     WHERE o.is_opened AND o.turn = o.payments AND a.partner_id = o.partner_id AND a.mode = o.mode
  )
  SELECT array_agg(o.nth ORDER BY o.nth) FILTER (WHERE NOT o.is_opened),
         bool_or(o.is_opened AND o.outcome IS NOT NULL) INTO unusual, has_ended FROM judged o;

  -- A statement of its own, since most openings have no event. The event goes to the outbox as in payments_finish.
  IF has_ended THEN
    deliveries_by := set_config('kopeck.deliveries_by', 'function', true);
    WITH announced AS (
      INSERT INTO events (partner_id, mode, payment_id, at)
        SELECT o.partner_id, o.mode, o.id, at FROM unnest(openings) WITH ORDINALITY AS o
         WHERE o.outcome IS NOT NULL AND (o.ordinality <> ALL (unusual)) IS NOT FALSE
           AND (o.ordinality <> ALL (objections)) IS NOT FALSE
         ORDER BY o.ordinality
        RETURNING events.partner_id, events.id, events.mode, events.payment_id, events.at
    ), queued AS (
      INSERT INTO deliveries (partner_id, event_id, mode, payment_id, next_at)
        SELECT n.partner_id, n.id, n.mode, n.payment_id, n.at FROM announced n JOIN webhooks w ON w.partner_id = n.partner_id
    )
    INSERT INTO further_deliveries (endpoint_id, event_id, partner_id, mode, payment_id, next_at)
      SELECT w.endpoint_id, n.id, n.partner_id, n.mode, n.payment_id, n.at
        FROM announced n JOIN further_webhooks w ON w.partner_id = n.partner_id AND w.mode = n.mode
       WHERE 'payment.' || (SELECT o.outcome FROM unnest(openings) o WHERE o.id = n.payment_id)::text = ANY (w.events);
    deliveries_by := set_config('kopeck.deliveries_by', '', true);
  END IF;

  IF unusual IS NULL AND objections IS NULL THEN
    RETURN QUERY SELECT o.ordinality, 'opened'::opening_verdict, o.id, NULL::bigint FROM unnest(openings) WITH ORDINALITY AS o;
    RETURN;
  END IF;
  RETURN QUERY
    SELECT o.ordinality, 'opened'::opening_verdict, o.id, NULL::bigint FROM unnest(openings) WITH ORDINALITY AS o
     WHERE (o.ordinality <> ALL (unusual)) IS NOT FALSE AND (o.ordinality <> ALL (objections)) IS NOT FALSE
    UNION ALL
    SELECT nth, 'objection', NULL, NULL FROM unnest(objections) AS nth;
  RETURN QUERY
    SELECT unusual[s.item], s.verdict, s.payment_id, s.balance
      FROM payments_open_singly(ARRAY(SELECT openings[nth] FROM unnest(unusual) AS nth), at, test_payments_per_day) AS s;
END $$;
