-- The items of payments_open that it does not open all together: decides one after the other, account by account. The order
-- of the checks is that of the API. 'known' means that the idempotency key has a payment already, which is returned. The keys
-- of archived payments are in archived_keys; one statement looks in both places, since payments move between them.
--
-- The caller has locked the accounts and may have reserved codes. A payment with an outcome ends in the same transaction.
-- Planner settings: see payments_open.sql.
CREATE OR REPLACE FUNCTION payments_open_singly(openings payment_opening[], at timestamptz, test_payments_per_day int)
RETURNS TABLE (item bigint, verdict opening_verdict, payment_id uuid, balance bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET cpu_index_tuple_cost = 10
AS $$
DECLARE
  live_scope CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  day_start CONSTANT timestamptz := date_trunc('day', at, 'UTC');
  today CONSTANT date := at AT TIME ZONE 'UTC';
  -- Ids start with their time. The id of a payment may be a moment older than its created_at.
  least_id CONSTANT uuid := lpad(to_hex(extract(epoch FROM day_start - interval '1 hour')::bigint * 1000), 12, '0')
                            || repeat('0', 20);
  next record;
  partner uuid;
  partner_mode mode;
  available bigint;
  under_way bigint;       -- payments of this account awaiting the gateway
  counted_day date;       -- of this account: the day that its counter is for
  turnover bigint;        -- of this account today, in kopecks
  opened_today bigint;    -- payments of this account that were opened today
  counts_ahead boolean;   -- a later day has payments already
  key_payment uuid;       -- the payment that the current idempotency key is bound to
  ids CONSTANT uuid[] := ARRAY(SELECT o.id FROM unnest(openings) o);
  taken text[] := '{}';   -- QR codes of payments opened by this call
  opened payment_opening[] := '{}';
BEGIN
  INSERT INTO open_payments AS p (scope, qrc_id, partner_id, mode, payment_id, awaiting_gateway, next_at)
    SELECT DISTINCT ON (scope, o.qrc_id) scope, o.qrc_id, o.partner_id, o.mode, o.id, false, o.next_at
      FROM unnest(openings) WITH ORDINALITY AS o, LATERAL (
           SELECT CASE WHEN o.mode = 'live' THEN live_scope ELSE o.partner_id END AS scope) AS s
     -- Not with NOT EXISTS, for which the planner may read the whole index.
     WHERE (SELECT k.id FROM payments k WHERE k.idempotency_key = o.idempotency_key AND NOT k.rejected
               AND (k.partner_id, k.mode) IS NOT DISTINCT FROM (o.partner_id, o.mode)) IS NULL
     ORDER BY scope, o.qrc_id, o.ordinality
    ON CONFLICT DO NOTHING;

  FOR next IN
    SELECT o.ordinality AS item, o.partner_id, o.mode, o.id, o.amount_kopecks, o.micro_usdt,
           CASE WHEN o.mode = 'live' THEN live_scope ELSE o.partner_id END || ' ' || o.qrc_id AS qr,
           o.rate_stale_at, l.concurrent, l.daily_kopecks,
           min(o.ordinality) OVER (PARTITION BY o.partner_id, o.mode, o.idempotency_key) AS first_item,
           coalesce(
             (SELECT k.id FROM payments k WHERE k.idempotency_key = o.idempotency_key AND NOT k.rejected
                 AND (k.partner_id, k.mode) IS NOT DISTINCT FROM (o.partner_id, o.mode)),
             (SELECT k.payment_id FROM archived_keys k WHERE k.idempotency_key = o.idempotency_key
                 AND k.partner_id = o.partner_id AND k.mode = o.mode)) AS known_id,
           -- Reserved by this call, perhaps for another of its items: the first one that may go ahead gets it.
           EXISTS (SELECT FROM open_payments p WHERE p.payment_id = ANY (ids) AND p.qrc_id = o.qrc_id
               AND p.scope = CASE WHEN o.mode = 'live' THEN live_scope ELSE o.partner_id END) AS qr_is_free
      FROM unnest(openings) WITH ORDINALITY AS o
      LEFT JOIN partners l ON l.id = o.partner_id
     WHERE o.ordinality BETWEEN 1 AND cardinality(openings)
     ORDER BY o.partner_id, o.mode, first_item, o.ordinality
  LOOP
    IF next.partner_id IS DISTINCT FROM partner OR next.mode IS DISTINCT FROM partner_mode THEN
      partner := next.partner_id;
      partner_mode := next.mode;
      SELECT a.available, a.turnover_day, CASE WHEN a.turnover_day = today THEN a.turnover_kopecks ELSE 0 END,
             CASE WHEN a.turnover_day = today THEN a.opened_on_day ELSE 0 END
        INTO available, counted_day, turnover, opened_today
        FROM accounts a WHERE a.partner_id = partner AND a.mode = partner_mode;
      under_way := (SELECT count(*) FROM open_payments p
                     WHERE p.partner_id = partner AND p.mode IS NOT DISTINCT FROM partner_mode AND p.awaiting_gateway
                       AND p.payment_id <> ALL (ids));
      IF counted_day IS NULL OR counted_day > today THEN
        SELECT coalesce(sum(d.amount_kopecks) FILTER (WHERE d.status IN ('processing', 'succeeded')), 0),
               coalesce(bool_or(d.created_at >= day_start + interval '1 day'), false), count(*)
          INTO turnover, counts_ahead, opened_today
          FROM payments d
         WHERE d.partner_id = partner AND d.mode = partner_mode AND d.id >= least_id AND d.created_at >= day_start;
        IF counted_day IS NULL AND NOT counts_ahead THEN
          UPDATE accounts a SET turnover_day = today, turnover_kopecks = turnover, opened_on_day = opened_today
           WHERE a.partner_id = partner AND a.mode = partner_mode;
        END IF;
      END IF;
    END IF;

    IF next.item = next.first_item THEN key_payment := next.known_id; END IF;
    item := next.item;
    verdict := CASE
      WHEN key_payment IS NOT NULL THEN 'known'::opening_verdict
      WHEN available IS NULL THEN 'no_account'
      WHEN next.rate_stale_at < at THEN 'rate_unavailable'
      WHEN NOT next.qr_is_free OR next.qr = ANY (taken) THEN 'duplicate_qr_in_flight'
      WHEN under_way >= next.concurrent THEN 'gateway_busy'
      WHEN turnover + next.amount_kopecks > next.daily_kopecks THEN 'daily_limit_exceeded'
      WHEN partner_mode = 'test' AND opened_today >= test_payments_per_day THEN 'daily_limit_exceeded'
      WHEN available < next.micro_usdt THEN 'insufficient_balance'
      ELSE 'opened'
    END;
    balance := available;
    IF verdict = 'opened' THEN
      key_payment := next.id;
      opened := array_append(opened, openings[next.item]);
      taken := array_append(taken, next.qr);
      available := available - next.micro_usdt;
      under_way := under_way + 1;
      turnover := turnover + next.amount_kopecks;
      opened_today := opened_today + 1;
    END IF;
    payment_id := key_payment;
    RETURN NEXT;
  END LOOP;

  IF cardinality(opened) < cardinality(openings) THEN
    DELETE FROM open_payments p USING unnest(openings) WITH ORDINALITY AS o
     WHERE o.ordinality BETWEEN 1 AND cardinality(openings)
       AND (p.payment_id = ANY (ids)) IS TRUE AND p.scope || ' ' || p.qrc_id <> ALL (taken) AND p.qrc_id = o.qrc_id
       AND p.scope = CASE WHEN o.mode = 'live' THEN live_scope ELSE o.partner_id END;
  END IF;
  IF cardinality(opened) = 0 THEN RETURN; END IF;

  UPDATE open_payments p
     SET partner_id = o.partner_id, mode = o.mode, payment_id = o.id, next_at = o.next_at, lease_holder = o.lease_holder,
         awaiting_gateway = true
    FROM unnest(opened) WITH ORDINALITY AS o
   WHERE o.ordinality BETWEEN 1 AND cardinality(opened)
     AND p.qrc_id = o.qrc_id AND p.scope = CASE WHEN o.mode = 'live' THEN live_scope ELSE o.partner_id END;
  PERFORM ledger_must_post(array_agg(o.partner_id), array_agg(o.mode), array_agg('hold'::ledger_operation),
                           array_agg(o.id), array_agg(o.micro_usdt), at)
     FROM unnest(opened) o;
  UPDATE accounts a
     SET turnover_day = today,
         turnover_kopecks = CASE WHEN a.turnover_day = today THEN a.turnover_kopecks ELSE 0 END + n.kopecks,
         opened_on_day = CASE WHEN a.turnover_day = today THEN a.opened_on_day ELSE 0 END + n.payments
    FROM (SELECT o.partner_id, o.mode, sum(o.amount_kopecks)::bigint AS kopecks, count(*)::int AS payments
            FROM unnest(opened) WITH ORDINALITY AS o WHERE o.ordinality BETWEEN 1 AND cardinality(opened)
           GROUP BY 1, 2) AS n
   WHERE a.partner_id = n.partner_id AND a.mode = n.mode AND a.turnover_day <= today;
  INSERT INTO payments (partner_id, mode, id, status, status_detail, idempotency_key, request_hash, external_id, qrc_id,
                        qr_url, fingerprint, recipient, amount_kopecks, micro_usdt, rate_e4, rate_id, metadata, created_at)
    SELECT o.partner_id, o.mode, o.id, 'processing', 'awaiting_gateway', o.idempotency_key, o.request_hash, o.external_id,
           o.qrc_id, o.qr_url, o.fingerprint, o.recipient, o.amount_kopecks, o.micro_usdt, o.rate_e4, o.rate_id,
           o.metadata, at
      FROM unnest(opened) o;

  PERFORM FROM payments_finish(
    ARRAY(SELECT o.partner_id FROM unnest(opened) o WHERE o.outcome IS NOT NULL),
    ARRAY(SELECT o.mode FROM unnest(opened) o WHERE o.outcome IS NOT NULL),
    ARRAY(SELECT o.id FROM unnest(opened) o WHERE o.outcome IS NOT NULL),
    ARRAY(SELECT o.outcome FROM unnest(opened) o WHERE o.outcome IS NOT NULL),
    ARRAY(SELECT o.error_code FROM unnest(opened) o WHERE o.outcome IS NOT NULL),
    ARRAY(SELECT NULL::text FROM unnest(opened) o WHERE o.outcome IS NOT NULL), at);
END $$;
