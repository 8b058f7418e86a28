-- The form of functions/payments_open.sql for a shard on Citus, with the same rules: see there. A statement that writes to several
-- tables would be carried out over all nodes, so each table has a statement of its own, and the judgement of the payments is
-- kept between them.
--
-- What stands once is read from the copies of the shard (views.sql). They count only if they were confirmed in the last ten
-- seconds: a stop that could not be brought here takes effect by then. Events are numbered by their account.
CREATE OR REPLACE FUNCTION payments_open(openings payment_opening[], at timestamptz, test_payments_per_day int)
RETURNS TABLE (item bigint, verdict opening_verdict, payment_id uuid, balance bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET cpu_index_tuple_cost = 10
AS $$
DECLARE
  live_scope CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  today CONSTANT date := at AT TIME ZONE 'UTC';
  ids CONSTANT uuid[] := ARRAY(SELECT o.id FROM unnest(openings) o);
  copies shard_state;
  has_stray_orders boolean;
  objections bigint[];
  known bigint[];
  judged payment_judgement[];
  unusual bigint[];
  has_ended boolean;
BEGIN
  PERFORM FROM (SELECT DISTINCT o.partner_id, o.mode FROM unnest(openings) o ORDER BY 1, 2) AS k,
       LATERAL (SELECT FROM accounts a WHERE a.partner_id = k.partner_id AND a.mode = k.mode FOR UPDATE) AS a;

  SELECT s.* INTO copies FROM shard_state s;
  IF (copies.confirmed_at > clock_timestamp() - interval '10 s') IS NOT TRUE THEN
    RAISE EXCEPTION 'the copies of this shard are out of date' USING ERRCODE = 'cannot_connect_now';
  END IF;
  IF current_setting('kopeck.shards', true) IS DISTINCT FROM copies.shards::text
     AND EXISTS (SELECT FROM unnest(openings) o WHERE o.mode = 'live') THEN
    RAISE EXCEPTION 'the shards have changed' USING ERRCODE = 'cannot_connect_now';
  END IF;
  IF EXISTS (SELECT FROM void_openings v WHERE v.payment_id = ANY (ids)) THEN
    RAISE EXCEPTION 'the code of a payment was freed before it was opened' USING ERRCODE = 'cannot_connect_now';
  END IF;
  IF EXISTS (SELECT FROM unnest(openings) o LEFT JOIN partners l ON l.id = o.partner_id
                    LEFT JOIN accounts a ON a.partner_id = o.partner_id AND a.mode = o.mode
              WHERE l.id IS NULL AND a.partner_id IS NOT NULL) THEN
    RAISE EXCEPTION 'the limits of a partner have not arrived' USING ERRCODE = 'cannot_connect_now';
  END IF;

  IF EXISTS (SELECT FROM unnest(openings) o WHERE o.unchecked_name IS NOT NULL) THEN
    copies.maintenance := copies.maintenance OR copies.is_recovering
      OR EXISTS (SELECT FROM maintenance_windows w WHERE w.from_at <= at AND w.until_at > at);
    has_stray_orders := EXISTS (SELECT FROM stray_orders);
    SELECT array_agg(o.ordinality) INTO objections FROM unnest(openings) WITH ORDINALITY AS o
     WHERE o.unchecked_name IS NOT NULL
       AND (copies.maintenance OR o.rate_id IS DISTINCT FROM copies.newest_rate OR (has_stray_orders AND o.mode = 'live')
            OR (SELECT b.recipient FROM blocked_recipients b
                 WHERE b.recipient IN (o.unchecked_name, o.unchecked_id) LIMIT 1) IS NOT NULL);
  END IF;

  SELECT coalesce(array_agg(o.ordinality), '{}') INTO known FROM unnest(openings) WITH ORDINALITY AS o
   WHERE o.ordinality BETWEEN 1 AND cardinality(openings)
     AND ((SELECT k.id FROM payments k WHERE k.idempotency_key = o.idempotency_key AND NOT k.rejected
             AND (k.partner_id, k.mode) IS NOT DISTINCT FROM (o.partner_id, o.mode)) IS NOT NULL
          OR (SELECT k.payment_id FROM archived_keys k WHERE k.idempotency_key = o.idempotency_key
                 AND k.partner_id = o.partner_id AND k.mode = o.mode) IS NOT NULL);
  -- A payment that ends here needs no row: its account is locked, and no other account has its codes in test mode.
  INSERT INTO open_payments (scope, qrc_id, partner_id, mode, payment_id, awaiting_gateway, next_at, lease_holder)
    SELECT DISTINCT ON (s.scope, o.qrc_id) s.scope, o.qrc_id, o.partner_id, o.mode, o.id, true, o.next_at, o.lease_holder
      FROM unnest(openings) WITH ORDINALITY AS o,
           LATERAL (SELECT CASE WHEN o.mode = 'live' THEN live_scope ELSE o.partner_id END AS scope) AS s
     WHERE o.outcome IS NULL AND o.ordinality <> ALL (known) AND (o.ordinality <> ALL (objections)) IS NOT FALSE
     ORDER BY s.scope, o.qrc_id, o.ordinality
    ON CONFLICT DO NOTHING;

  SELECT array_agg(ROW(o.nth, o.partner_id, o.mode, o.id, o.micro_usdt, o.outcome,
           (o.are_usual AND o.available >= o.wanted_usdt AND o.turnover_day = today
             AND (o.turnover_kopecks + o.wanted_kopecks <= o.daily_kopecks) IS NOT FALSE
             AND (o.mode <> 'test' OR (o.opened_on_day + o.payments <= test_payments_per_day) IS NOT FALSE)
             AND o.concurrent >= o.payments + o.all_under_way) IS TRUE,
           o.turn, o.payments, o.spent, o.kept, o.spent_so_far, o.kept_so_far, o.settled_so_far, o.endings_so_far,
           o.available, o.held, o.settled, o.entry_count, o.last_event_id, o.entry_at, o.kopecks)::public.payment_judgement
           ORDER BY o.nth) INTO judged
    FROM (SELECT t.*, bool_and(t.is_usual) OVER account AS are_usual, count(*) OVER account AS payments,
                 max(t.under_way) OVER account AS all_under_way, sum(t.micro_usdt) OVER account AS wanted_usdt,
                 sum(t.amount_kopecks) OVER account AS wanted_kopecks,
                 sum(t.amount_kopecks) FILTER (WHERE t.outcome IS DISTINCT FROM 'failed') OVER account AS kopecks
            FROM (
              SELECT o.*, a.available, a.held, a.settled, a.entry_count, a.last_event_id, a.turnover_day, a.turnover_kopecks,
                     a.opened_on_day, greatest(at, a.last_entry_at) AS entry_at, l.concurrent, l.daily_kopecks,
                     row_number() OVER so_far AS turn,
                     sum(o.kept) OVER so_far AS kept_so_far, sum(o.settled_now) OVER so_far AS settled_so_far,
                     sum(o.spent) OVER so_far AS spent_so_far, count(o.outcome) OVER so_far AS endings_so_far,
                     -- Counted once for an account, without those that were just reserved.
                     CASE WHEN row_number() OVER so_far = 1 THEN (
                       SELECT count(*) FROM open_payments p
                        WHERE p.partner_id = o.partner_id AND p.mode IS NOT DISTINCT FROM o.mode AND p.awaiting_gateway
                          AND p.payment_id <> ALL (ids)) END AS under_way,
                     NOT o.is_known AND NOT o.comes_twice AND o.rate_stale_at >= at
                       AND (SELECT p.payment_id FROM open_payments p WHERE p.scope = o.scope AND p.qrc_id = o.qrc_id)
                           IS NOT DISTINCT FROM CASE WHEN o.outcome IS NULL THEN o.id END AS is_usual
                FROM (
                  SELECT o.partner_id, o.mode, o.id, o.qrc_id, o.outcome, o.micro_usdt, o.amount_kopecks, o.rate_stale_at,
                         o.ordinality AS nth, s.scope,
                         CASE WHEN o.outcome IS NULL THEN o.micro_usdt ELSE 0 END AS kept,
                         CASE WHEN o.outcome = 'succeeded' THEN o.micro_usdt ELSE 0 END AS settled_now,
                         CASE WHEN o.outcome IS DISTINCT FROM 'failed' THEN o.micro_usdt ELSE 0 END AS spent,
                         o.ordinality = ANY (known) AS is_known,
                         count(*) OVER (PARTITION BY o.partner_id, o.mode, o.idempotency_key) > 1
                           OR count(*) OVER (PARTITION BY s.scope, o.qrc_id) > 1 AS comes_twice
                    FROM unnest(openings) WITH ORDINALITY AS o,
                         LATERAL (SELECT CASE WHEN o.mode = 'live' THEN live_scope ELSE o.partner_id END AS scope) AS s
                   WHERE o.ordinality BETWEEN 1 AND cardinality(openings) AND (o.ordinality <> ALL (objections)) IS NOT FALSE
                ) AS o
                LEFT JOIN accounts a ON a.partner_id = o.partner_id AND a.mode = o.mode
                LEFT JOIN partners l ON l.id = o.partner_id
              WINDOW so_far AS (PARTITION BY o.partner_id, o.mode ORDER BY o.nth)
            ) AS t WINDOW account AS (PARTITION BY t.partner_id, t.mode)) AS o;
  SELECT array_agg(o.nth ORDER BY o.nth) FILTER (WHERE NOT o.is_opened),
         bool_or(o.is_opened AND o.outcome IS NOT NULL) INTO unusual, has_ended FROM unnest(judged) o;

  INSERT INTO payments (partner_id, mode, id, status, status_detail, idempotency_key, request_hash, external_id, qrc_id,
                        qr_url, fingerprint, recipient, amount_kopecks, micro_usdt, rate_e4, rate_id, metadata, created_at,
                        error_code, settled_at)
    SELECT o.partner_id, o.mode, o.id, coalesce(o.outcome, 'processing'),
           CASE WHEN o.outcome IS NULL THEN 'awaiting_gateway'::payment_detail
                WHEN o.outcome = 'failed' THEN 'gateway_declined' END,
           o.idempotency_key, o.request_hash, o.external_id, o.qrc_id, o.qr_url, o.fingerprint, o.recipient,
           o.amount_kopecks, o.micro_usdt, o.rate_e4, o.rate_id, o.metadata, at, o.error_code,
           CASE WHEN o.outcome IS NOT NULL THEN at END
      FROM unnest(openings) WITH ORDINALITY AS o
     WHERE (o.ordinality <> ALL (unusual)) IS NOT FALSE AND (o.ordinality <> ALL (objections)) IS NOT FALSE;
  -- The hold, and the entry that ends it. Before it, others have kept and spent what is theirs.
  INSERT INTO entries (partner_id, mode, entry_no, from_account, to_account, micro_usdt, from_after, to_after, payment_id,
                       created_at)
    SELECT o.partner_id, o.mode, o.entry_count + o.turn + o.endings_so_far - (o.outcome IS NOT NULL)::int,
           'available'::account, 'held'::account, o.micro_usdt,
           o.available - o.spent_so_far + o.spent - o.micro_usdt, o.held + o.kept_so_far - o.kept + o.micro_usdt,
           o.id, o.entry_at
      FROM unnest(judged) o WHERE o.is_opened
    UNION ALL
    SELECT o.partner_id, o.mode, o.entry_count + o.turn + o.endings_so_far,
           'held', CASE WHEN o.outcome = 'succeeded' THEN 'settled'::account ELSE 'available' END, o.micro_usdt,
           o.held + o.kept_so_far,
           CASE WHEN o.outcome = 'succeeded' THEN o.settled + o.settled_so_far ELSE o.available - o.spent_so_far END,
           o.id, o.entry_at
      FROM unnest(judged) o WHERE o.is_opened AND o.outcome IS NOT NULL;
  -- The last payment of an account has its sums.
  UPDATE accounts a
     SET available = a.available - o.spent_so_far, held = a.held + o.kept_so_far, settled = a.settled + o.settled_so_far,
         entry_count = a.entry_count + o.payments + o.endings_so_far, last_entry_at = o.entry_at,
         last_event_id = a.last_event_id + o.endings_so_far,
         turnover_kopecks = a.turnover_kopecks + coalesce(o.kopecks, 0), opened_on_day = a.opened_on_day + o.payments
    FROM unnest(judged) o
   WHERE o.is_opened AND o.turn = o.payments AND a.partner_id = o.partner_id AND a.mode = o.mode;

  IF has_ended THEN
    INSERT INTO events (partner_id, mode, id, payment_id, at)
      SELECT o.partner_id, o.mode, o.last_event_id + o.endings_so_far, o.id, at FROM unnest(judged) o
       WHERE o.is_opened AND o.outcome IS NOT NULL;
    INSERT INTO deliveries (partner_id, event_id, mode, payment_id, next_at)
      SELECT o.partner_id, o.last_event_id + o.endings_so_far, o.mode, o.id, at
        FROM unnest(judged) o JOIN webhooks w ON w.partner_id = o.partner_id
       WHERE o.is_opened AND o.outcome IS NOT NULL;
    INSERT INTO further_deliveries (endpoint_id, event_id, partner_id, mode, payment_id, next_at)
      SELECT w.endpoint_id, o.last_event_id + o.endings_so_far, o.partner_id, o.mode, o.id, at
        FROM unnest(judged) o JOIN further_webhooks w ON w.partner_id = o.partner_id AND w.mode = o.mode
       WHERE o.is_opened AND o.outcome IS NOT NULL
         AND CASE WHEN o.outcome = 'succeeded' THEN 'payment.succeeded' ELSE 'payment.failed' END = ANY (w.events);
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
