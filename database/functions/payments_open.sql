-- Opens payments: decides for each whether it may go ahead, account by account and in the order given, and then writes all that may
-- together: the payment, its hold, the balance. A payment with an outcome (of test mode) also ends here, so that it costs one
-- statement. The order of the checks is that of the API.
--
-- Locks are taken in one order: accounts by their key, then QR codes by theirs, then quotes.
--
-- Almost nothing is refused before its account is looked at. So what can refuse many payments is read once (payments_may_stop), and
-- payment_refusal is asked about a payment only if that may concern it.
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
  today CONSTANT date := at AT TIME ZONE 'UTC';
  day_start CONSTANT timestamptz := date_trunc('day', at, 'UTC');
  newest_rate bigint;
  may_stop boolean;
  next record;
  partner uuid;           -- the account of the payments that are being decided,
  partner_mode mode;
  available bigint;       -- its balance,
  under_way bigint;       -- its payments awaiting the gateway,
  turnover bigint;        -- today's kopecks
  opened_today bigint;    -- and payments, all with what was opened before
  counts_ahead boolean;
  key_spent bigint;
  refusal opening_verdict;
  key_payments uuid[] := array_fill(NULL::uuid, ARRAY[cardinality(openings)]);  -- opened here, at the first item with their key
  taken text[] := '{}';   -- codes of payments opened here, as far as others have them too
  verdicts opening_verdict[] := array_fill('opened'::opening_verdict, ARRAY[cardinality(openings)]);
  has_refused boolean := false;
  has_ended boolean := false;
BEGIN
  PERFORM FROM (SELECT DISTINCT o.partner_id, o.mode FROM unnest(openings) o ORDER BY 1, 2) AS k,
       LATERAL (SELECT FROM accounts a WHERE a.partner_id = k.partner_id AND a.mode = k.mode FOR UPDATE) AS a;

  SELECT (SELECT r.id FROM rates r ORDER BY r.id DESC LIMIT 1), s.may_stop
    INTO newest_rate, may_stop FROM payments_may_stop(at) s;

  FOR next IN
    WITH asked AS MATERIALIZED (
      SELECT o.ordinality AS nth, o.partner_id, o.mode, o.id, o.qrc_id, o.amount_kopecks, o.micro_usdt, o.rate_e4, o.rate_id, o.rate_stale_at,
             o.idempotency_key, o.folded_name, o.folded_id, o.next_at, o.lease_holder, o.outcome, o.key_id, o.key_daily_kopecks,
             o.quote_id, s.scope, k.payment_id AS known_id,
             min(o.ordinality) OVER (PARTITION BY o.partner_id, o.mode, o.idempotency_key) AS first_of_key,
             count(*) OVER (PARTITION BY s.scope, o.qrc_id) > 1 AS shares_code,
             may_stop OR o.rate_id <> newest_rate OR o.quote_id IS NOT NULL
               OR (SELECT b.recipient FROM blocked_recipients b
                    WHERE b.recipient IN (o.folded_name, o.folded_id) LIMIT 1) IS NOT NULL AS may_be_refused
        FROM unnest(openings) WITH ORDINALITY AS o,
             LATERAL (SELECT code_scope(o.mode, o.partner_id) AS scope) AS s,
             LATERAL payment_of_key(o.partner_id, o.mode, o.idempotency_key) AS k
       WHERE o.ordinality BETWEEN 1 AND cardinality(openings)
    ), reserved AS (
      -- A payment that ends here needs no row: its account is locked, and no other account has its codes in test mode.
      INSERT INTO open_payments (scope, qrc_id, partner_id, mode, payment_id, awaiting_gateway, next_at, lease_holder)
        SELECT DISTINCT ON (o.scope, o.qrc_id) o.scope, o.qrc_id, o.partner_id, o.mode, o.id, true, o.next_at, o.lease_holder
          FROM asked o WHERE o.known_id IS NULL AND o.outcome IS NULL ORDER BY o.scope, o.qrc_id, o.nth
        ON CONFLICT DO NOTHING
        RETURNING open_payments.scope, open_payments.qrc_id
    )
    SELECT o.*, a.available, a.turnover_day, a.turnover_kopecks, a.opened_on_day, l.concurrent, l.daily_kopecks,
           -- Counted once for an account.
           CASE row_number() OVER (PARTITION BY o.partner_id, o.mode ORDER BY o.nth) WHEN 1 THEN (
             SELECT count(*) FROM open_payments p
              WHERE p.partner_id = o.partner_id AND p.mode IS NOT DISTINCT FROM o.mode AND p.awaiting_gateway) END AS under_way,
           CASE WHEN o.outcome IS NULL THEN (o.scope, o.qrc_id) IN (SELECT r.scope, r.qrc_id FROM reserved r)
                ELSE (SELECT p.payment_id FROM open_payments p WHERE p.scope = o.scope AND p.qrc_id = o.qrc_id) IS NULL END AS is_free
      FROM asked o
      LEFT JOIN accounts a ON a.partner_id = o.partner_id AND a.mode = o.mode
      LEFT JOIN partners l ON l.id = o.partner_id
     ORDER BY o.partner_id, o.mode, o.nth
  LOOP
    IF next.under_way IS NOT NULL THEN
      partner := next.partner_id;
      partner_mode := next.mode;
      available := next.available;
      under_way := next.under_way;
      turnover := CASE WHEN next.turnover_day = today THEN next.turnover_kopecks ELSE 0 END;
      opened_today := CASE WHEN next.turnover_day = today THEN next.opened_on_day ELSE 0 END;
      IF next.turnover_day IS NULL OR next.turnover_day > today THEN
        SELECT coalesce(sum(d.amount_kopecks) FILTER (WHERE d.status IN ('processing', 'succeeded')), 0),
               coalesce(bool_or(d.created_at >= day_start + interval '1 day'), false), count(*)
          INTO turnover, counts_ahead, opened_today
          FROM payments d
         WHERE d.partner_id = partner AND d.mode = partner_mode AND d.created_at >= day_start
           -- Ids start with their time. The id of a payment may be a moment older than its created_at.
           AND d.id >= (lpad(to_hex(extract(epoch FROM day_start - interval '1 hour')::bigint * 1000), 12, '0')
                        || repeat('0', 20))::uuid;
        IF next.turnover_day IS NULL AND NOT counts_ahead THEN
          UPDATE accounts a SET turnover_day = today, turnover_kopecks = turnover, opened_on_day = opened_today
           WHERE a.partner_id = partner AND a.mode = partner_mode;
        END IF;
      END IF;
    END IF;
    payment_id := coalesce(next.known_id, key_payments[next.first_of_key]);
    refusal := CASE WHEN next.may_be_refused AND payment_id IS NULL THEN
      payment_refusal(partner, partner_mode, next.idempotency_key, ARRAY[next.folded_name, next.folded_id], next.qrc_id,
                      CASE WHEN next.quote_id IS NULL THEN next.rate_id END, next.quote_id, next.amount_kopecks, next.micro_usdt,
                      next.rate_e4, at)
    END;
    IF next.key_id IS NOT NULL THEN key_spent := key_turnover(next.key_id, partner, partner_mode, today); END IF;

    item := next.nth;
    balance := available;
    verdict := CASE
      WHEN payment_id IS NOT NULL THEN 'known'::opening_verdict
      WHEN available IS NULL THEN 'no_account'
      WHEN refusal IS NOT NULL THEN refusal
      WHEN next.rate_stale_at < at THEN 'rate_unavailable'
      WHEN NOT next.is_free OR (next.shares_code AND next.scope || next.qrc_id = ANY (taken)) THEN 'duplicate_qr_in_flight'
      WHEN under_way >= next.concurrent THEN 'gateway_busy'
      WHEN turnover + next.amount_kopecks > next.daily_kopecks THEN 'daily_limit_exceeded'
      WHEN partner_mode = 'test' AND opened_today >= test_payments_per_day THEN 'daily_limit_exceeded'
      WHEN available < next.micro_usdt THEN 'insufficient_balance'
      WHEN next.key_id IS NOT NULL AND key_spent + next.amount_kopecks > next.key_daily_kopecks THEN 'key_daily_limit_exceeded'
      ELSE 'opened'
    END;
    verdicts[item] := verdict;
    IF verdict = 'opened' THEN
      payment_id := next.id;
      key_payments[next.first_of_key] := next.id;
      opened_today := opened_today + 1;
      IF next.outcome IS NULL THEN
        under_way := under_way + 1;
        IF next.shares_code THEN taken := taken || (next.scope || next.qrc_id); END IF;
      ELSE
        has_ended := true;
      END IF;
      IF next.outcome IS DISTINCT FROM 'failed' THEN
        available := available - next.micro_usdt;
        turnover := turnover + next.amount_kopecks;
        IF next.key_id IS NOT NULL THEN
          INSERT INTO key_turnovers AS t (key_id, day, kopecks) VALUES (next.key_id, today, next.amount_kopecks)
            ON CONFLICT (key_id, day) DO UPDATE SET kopecks = t.kopecks + excluded.kopecks;
          INSERT INTO key_unsettled (key_id, payment_id, day, kopecks)
            SELECT next.key_id, next.id, today, next.amount_kopecks WHERE next.outcome IS NULL;
        END IF;
      END IF;
      IF next.quote_id IS NOT NULL THEN UPDATE locked_quotes q SET payment_id = next.id WHERE q.id = next.quote_id; END IF;
    ELSE
      has_refused := true;
    END IF;
    RETURN NEXT;
  END LOOP;

  IF has_refused THEN
    -- A code goes back, or from the payment that was refused to the one that was opened.
    DELETE FROM open_payments p USING unnest(openings) WITH ORDINALITY AS o
     WHERE o.ordinality BETWEEN 1 AND cardinality(openings) AND verdicts[o.ordinality] <> 'opened'
       AND p.payment_id IS NOT DISTINCT FROM o.id AND p.qrc_id = o.qrc_id
       AND p.scope = code_scope(o.mode, o.partner_id);
    INSERT INTO open_payments (scope, qrc_id, partner_id, mode, payment_id, awaiting_gateway, next_at, lease_holder)
      SELECT code_scope(o.mode, o.partner_id), o.qrc_id, o.partner_id, o.mode, o.id, true, o.next_at,
             o.lease_holder
        FROM unnest(openings) WITH ORDINALITY AS o WHERE verdicts[o.ordinality] = 'opened' AND o.outcome IS NULL
      ON CONFLICT DO NOTHING;
  END IF;

  WITH opened AS MATERIALIZED (
    -- What the payments of an account have done to it, up to and with each. `kept` stays held if the payment goes on, `settled_now` if
    -- it has succeeded, and nothing is spent if it has failed.
    SELECT o.*, a.available, a.held, a.settled, a.entry_count, greatest(at, a.last_entry_at) AS entry_at,
           row_number() OVER so_far AS turn, count(o.outcome) OVER so_far AS endings_so_far,
           sum(o.kept) OVER so_far AS kept_so_far, sum(o.settled_now) OVER so_far AS settled_so_far,
           sum(o.spent) OVER so_far AS spent_so_far, count(*) OVER account AS payments,
           sum(o.amount_kopecks) FILTER (WHERE o.outcome IS DISTINCT FROM 'failed') OVER account AS kopecks
      FROM (SELECT o.*, CASE WHEN o.outcome IS NULL THEN o.micro_usdt ELSE 0 END AS kept,
                   CASE WHEN o.outcome = 'succeeded' THEN o.micro_usdt ELSE 0 END AS settled_now,
                   CASE WHEN o.outcome IS DISTINCT FROM 'failed' THEN o.micro_usdt ELSE 0 END AS spent
              FROM unnest(openings) WITH ORDINALITY AS o
             WHERE o.ordinality BETWEEN 1 AND cardinality(openings) AND verdicts[o.ordinality] = 'opened') AS o
      JOIN accounts a ON a.partner_id = o.partner_id AND a.mode = o.mode
    WINDOW account AS (PARTITION BY o.partner_id, o.mode), so_far AS (account ORDER BY o.ordinality)
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
    -- The hold, and the entry that ends it. Before it, others have kept and spent what is theirs.
    INSERT INTO entries (partner_id, mode, entry_no, from_account, to_account, micro_usdt, from_after, to_after, payment_id,
                         created_at)
      SELECT o.partner_id, o.mode, o.entry_count + o.turn + o.endings_so_far - (o.outcome IS NOT NULL)::int,
             'available'::account, 'held'::account, o.micro_usdt,
             o.available - o.spent_so_far + o.spent - o.micro_usdt, o.held + o.kept_so_far - o.kept + o.micro_usdt,
             o.id, o.entry_at
        FROM opened o
      UNION ALL
      SELECT o.partner_id, o.mode, o.entry_count + o.turn + o.endings_so_far,
             'held', CASE o.outcome WHEN 'succeeded' THEN 'settled'::account ELSE 'available' END, o.micro_usdt,
             o.held + o.kept_so_far,
             CASE o.outcome WHEN 'succeeded' THEN o.settled + o.settled_so_far ELSE o.available - o.spent_so_far END,
             o.id, o.entry_at
        FROM opened o WHERE o.outcome IS NOT NULL
  )
  -- The last payment of an account has its sums. A counter of a later day stays.
  UPDATE accounts a
     SET available = a.available - o.spent_so_far, held = a.held + o.kept_so_far, settled = a.settled + o.settled_so_far,
         entry_count = a.entry_count + o.payments + o.endings_so_far, last_entry_at = o.entry_at,
         turnover_day = CASE WHEN a.turnover_day < today THEN today ELSE a.turnover_day END,
         turnover_kopecks = CASE WHEN a.turnover_day > today THEN a.turnover_kopecks
                                 ELSE CASE a.turnover_day WHEN today THEN a.turnover_kopecks ELSE 0 END + coalesce(o.kopecks, 0) END,
         opened_on_day = CASE WHEN a.turnover_day > today THEN a.opened_on_day
                              ELSE CASE a.turnover_day WHEN today THEN a.opened_on_day ELSE 0 END + o.payments END
    FROM opened o
   WHERE o.turn = o.payments AND a.partner_id = o.partner_id AND a.mode = o.mode;

  -- A statement of its own, since most openings have no event. The event goes to the outbox as in payments_finish.
  IF NOT has_ended THEN RETURN; END IF;
  WITH announced AS (
    INSERT INTO events (partner_id, mode, payment_id, at)
      SELECT o.partner_id, o.mode, o.id, at FROM unnest(openings) WITH ORDINALITY AS o
       WHERE o.outcome IS NOT NULL AND verdicts[o.ordinality] = 'opened' ORDER BY o.ordinality
      RETURNING events.partner_id, events.id, events.mode, events.payment_id, events.at
  )
  INSERT INTO deliveries (endpoint_id, event_id, partner_id, mode, payment_id, next_at)
    SELECT w.endpoint_id, n.id, n.partner_id, n.mode, n.payment_id, n.at
      FROM announced n JOIN endpoints w ON w.partner_id = n.partner_id AND (w.is_first OR w.mode = n.mode)
     WHERE w.is_first OR 'payment.' || (SELECT o.outcome FROM unnest(openings) o WHERE o.id = n.payment_id)::text = ANY (w.events);
END $$;
