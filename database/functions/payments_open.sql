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
CREATE OR REPLACE FUNCTION payments_open(openings payment_opening[], at timestamptz, test_payments_per_day int)
RETURNS TABLE (item bigint, verdict opening_verdict, payment_id uuid, balance bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  live_scope CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  today CONSTANT date := at AT TIME ZONE 'UTC';
  newest_rate bigint;
  is_stopped boolean;
  has_stray_orders boolean;
  objections bigint[];
  unusual bigint[];
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
    SELECT o.*, o.ordinality AS nth, s.scope,
           -- Not with NOT EXISTS, for which the planner may read the whole index.
           (SELECT k.id FROM payments k WHERE k.idempotency_key = o.idempotency_key AND NOT k.rejected
               AND (k.partner_id, k.mode) IS NOT DISTINCT FROM (o.partner_id, o.mode)) IS NOT NULL
             OR (SELECT k.payment_id FROM archived_keys k WHERE k.idempotency_key = o.idempotency_key
                    AND k.partner_id = o.partner_id AND k.mode = o.mode) IS NOT NULL AS is_known,
           count(*) OVER (PARTITION BY o.partner_id, o.mode, o.idempotency_key) > 1 AS is_key_twice,
           count(*) OVER (PARTITION BY s.scope, o.qrc_id) > 1 AS is_code_twice
      FROM unnest(openings) WITH ORDINALITY AS o,
           LATERAL (SELECT CASE o.mode WHEN 'live' THEN live_scope ELSE o.partner_id END AS scope) AS s
     WHERE (o.ordinality <> ALL (objections)) IS NOT FALSE
  ), reserved AS (
    -- A payment that ends here needs no row: its account is locked, and no other account has its codes in test mode.
    INSERT INTO open_payments (scope, qrc_id, partner_id, mode, payment_id, awaiting_gateway, next_at, lease_holder)
      SELECT DISTINCT ON (o.scope, o.qrc_id) o.scope, o.qrc_id, o.partner_id, o.mode, o.id, true, o.next_at, o.lease_holder
        FROM asked o WHERE NOT o.is_known AND o.outcome IS NULL ORDER BY o.scope, o.qrc_id, o.nth
      ON CONFLICT DO NOTHING
      RETURNING open_payments.payment_id AS id
  ), totals AS (
    SELECT o.partner_id, o.mode, count(*)::int AS payments, sum(o.micro_usdt) AS micro_usdt,
           sum(o.amount_kopecks) AS kopecks,
           coalesce(sum(o.amount_kopecks) FILTER (WHERE o.outcome = 'failed'), 0) AS failed_kopecks
      FROM asked o LEFT JOIN reserved r ON r.id = o.id
     GROUP BY o.partner_id, o.mode
    HAVING bool_and(NOT o.is_known AND NOT o.is_key_twice AND NOT o.is_code_twice AND o.rate_stale_at >= at
                    AND CASE WHEN o.outcome IS NULL THEN r.id IS NOT NULL
                             ELSE (SELECT p.payment_id FROM open_payments p
                                    WHERE p.scope = o.scope AND p.qrc_id = o.qrc_id) IS NULL END)
  ), books AS MATERIALIZED (
    SELECT a.partner_id, a.mode, a.available, a.held, a.settled, a.entry_count, greatest(at, a.last_entry_at) AS entry_at,
           t.payments, t.kopecks - t.failed_kopecks AS kopecks
      FROM totals t, LATERAL (SELECT * FROM accounts a WHERE a.partner_id = t.partner_id AND a.mode = t.mode) AS a,
           LATERAL (SELECT l.concurrent, l.daily_kopecks FROM partners l WHERE l.id = t.partner_id) AS l
     WHERE a.available >= t.micro_usdt
       AND a.turnover_day = today
       AND (a.turnover_kopecks + t.kopecks <= l.daily_kopecks) IS NOT FALSE
       AND (a.mode <> 'test' OR (a.opened_on_day + t.payments <= test_payments_per_day) IS NOT FALSE)
       AND l.concurrent >= t.payments + (SELECT count(*) FROM open_payments p
                                          WHERE p.partner_id = t.partner_id AND p.mode = t.mode AND p.awaiting_gateway)
  ), opened AS MATERIALIZED (
    -- What each payment finds, and what it leaves: held if it goes on, settled if it has succeeded, nothing if it has failed.
    SELECT o.*, b.available, b.held, b.settled, b.entry_at, m.kept, m.spent, m.ended,
           b.entry_count + row_number() OVER before + count(o.outcome) OVER before - (o.outcome IS NOT NULL)::int AS hold_no,
           sum(m.kept) OVER before - m.kept AS held_before,
           sum(m.spent) OVER before - m.spent AS spent_before,
           sum(m.ended) OVER before AS settled_after
      FROM asked o JOIN books b ON b.partner_id = o.partner_id AND b.mode = o.mode,
           LATERAL (SELECT CASE WHEN o.outcome IS NULL THEN o.micro_usdt ELSE 0 END AS kept,
                           CASE WHEN o.outcome = 'succeeded' THEN o.micro_usdt ELSE 0 END AS ended,
                           CASE WHEN o.outcome IS DISTINCT FROM 'failed' THEN o.micro_usdt ELSE 0 END AS spent) AS m
    WINDOW before AS (PARTITION BY o.partner_id, o.mode ORDER BY o.nth)
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
        FROM opened o
  ), new_entries AS (
    INSERT INTO entries (partner_id, mode, entry_no, from_account, to_account, micro_usdt, from_after, to_after, payment_id,
                         created_at)
      SELECT o.partner_id, o.mode, o.hold_no, 'available'::account, 'held'::account, o.micro_usdt,
             o.available - o.spent_before - o.micro_usdt, o.held + o.held_before + o.micro_usdt, o.id, o.entry_at
        FROM opened o
      UNION ALL
      SELECT o.partner_id, o.mode, o.hold_no + 1, 'held', CASE o.outcome WHEN 'succeeded' THEN 'settled'::account ELSE 'available' END,
             o.micro_usdt, o.held + o.held_before,
             CASE o.outcome WHEN 'succeeded' THEN o.settled + o.settled_after ELSE o.available - o.spent_before END,
             o.id, o.entry_at
        FROM opened o WHERE o.outcome IS NOT NULL
  ), new_books AS (
    UPDATE accounts a
       SET available = a.available - n.spent, held = a.held + n.kept, settled = a.settled + n.ended,
           entry_count = a.entry_count + b.payments + n.endings, last_entry_at = b.entry_at,
           turnover_kopecks = a.turnover_kopecks + b.kopecks, opened_on_day = a.opened_on_day + b.payments
      FROM books b, LATERAL (
           SELECT sum(o.spent) AS spent, sum(o.kept) AS kept, sum(o.ended) AS ended, count(o.outcome) AS endings
             FROM opened o WHERE o.partner_id = b.partner_id AND o.mode = b.mode) AS n
     WHERE a.partner_id = b.partner_id AND a.mode = b.mode
  ), new_events AS (
    INSERT INTO events (partner_id, mode, payment_id, at)
      SELECT o.partner_id, o.mode, o.id, at FROM opened o WHERE o.outcome IS NOT NULL ORDER BY o.nth
  )
  SELECT array_agg(o.nth ORDER BY o.nth) INTO unusual
    FROM asked o WHERE NOT EXISTS (SELECT FROM opened n WHERE n.nth = o.nth);

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
