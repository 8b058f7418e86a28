-- What is left behind when something dies, who picks it up, and what is said about it.

-- Each process takes a number and holds an advisory lock on it for as long as it is connected.
CREATE SEQUENCE instances AS int CYCLE;

-- Who is busy with the payment; when that process is gone, its time has come whatever `next_at` says.
ALTER TABLE open_payments ADD COLUMN lease_holder int;
-- Since when support has been asked to end it: two hours after its creation.
ALTER TABLE open_payments ADD COLUMN support_since timestamptz;
ALTER TYPE payment_opening ADD ATTRIBUTE lease_holder int;

-- One per finished payment, written with its end. Numbers are drawn under the lock of the partner's account, so within
-- a partner and mode they are in the order of commit, and a reader who has seen one will never find a smaller one new.
CREATE TABLE events (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  payment_id uuid NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (partner_id, mode, id)
);
CREATE TRIGGER events_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  EXECUTE FUNCTION refuse_change();
ALTER TABLE events ENABLE ALWAYS TRIGGER events_are_append_only;

-- What people must look at. Raised again while it is open, an alarm is counted and not repeated.
CREATE TABLE alarms (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  subject text NOT NULL,
  detail text NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  times int NOT NULL DEFAULT 1,
  cleared_at timestamptz,
  cleared_by text,
  CONSTRAINT alarms_are_cleared_by_somebody CHECK ((cleared_at IS NULL) = (cleared_by IS NULL))
);
CREATE UNIQUE INDEX alarms_open_once ON alarms (kind, subject) WHERE cleared_at IS NULL;

-- Opens payments: decides in one transaction whether each may go ahead, and if so debits it. The order of the checks
-- is that of the API. 'known' means that its idempotency key has a payment already, which is named.
--
-- Locks are taken in one order: accounts by their key, then QR codes by theirs.
CREATE OR REPLACE FUNCTION payments_open(openings payment_opening[], at timestamptz)
RETURNS TABLE (item bigint, verdict opening_verdict, payment_id uuid, balance bigint)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
  live_scope CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  day_start CONSTANT timestamptz := date_trunc('day', at, 'UTC');
  -- Ids begin with their time; one of today may be a moment older than its payment.
  least_id CONSTANT uuid := lpad(to_hex(extract(epoch FROM day_start - interval '1 hour')::bigint * 1000), 12, '0')
                            || repeat('0', 20);
  next record;
  partner uuid;
  partner_mode mode;
  available bigint;
  under_way bigint;       -- payments of this account awaiting the gateway
  turnover bigint;        -- of this account today, in kopecks; only counted where there is a limit
  key_payment uuid;       -- the payment that the key which the walk has reached is bound to
  ids CONSTANT uuid[] := ARRAY(SELECT o.id FROM unnest(openings) o);
  taken text[] := '{}';   -- QR codes of payments opened by this call
  opened payment_opening[] := '{}';
BEGIN
  PERFORM FROM (SELECT DISTINCT o.partner_id, o.mode FROM unnest(openings) o ORDER BY 1, 2) AS k,
       LATERAL (SELECT FROM accounts a WHERE a.partner_id = k.partner_id AND a.mode = k.mode FOR UPDATE) AS a;

  INSERT INTO open_payments AS p (scope, qrc_id, partner_id, mode, payment_id, awaiting_gateway, next_at)
    SELECT DISTINCT ON (scope, o.qrc_id) scope, o.qrc_id, o.partner_id, o.mode, o.id, false, o.next_at
      FROM unnest(openings) WITH ORDINALITY AS o, LATERAL (
           SELECT CASE o.mode WHEN 'live' THEN live_scope ELSE o.partner_id END AS scope) AS s
     WHERE NOT EXISTS (SELECT FROM payments k WHERE k.idempotency_key = o.idempotency_key AND NOT k.rejected
                          AND (k.partner_id, k.mode) IS NOT DISTINCT FROM (o.partner_id, o.mode))
     ORDER BY scope, o.qrc_id, o.ordinality
    ON CONFLICT DO NOTHING;

  FOR next IN
    SELECT o.ordinality AS item, o.partner_id, o.mode, o.id, o.amount_kopecks, o.micro_usdt,
           CASE o.mode WHEN 'live' THEN live_scope ELSE o.partner_id END || ' ' || o.qrc_id AS qr,
           o.rate_stale_at, l.concurrent, l.daily_kopecks,
           min(o.ordinality) OVER (PARTITION BY o.partner_id, o.mode, o.idempotency_key) AS first_item,
           (SELECT k.id FROM payments k WHERE k.idempotency_key = o.idempotency_key AND NOT k.rejected
               AND (k.partner_id, k.mode) IS NOT DISTINCT FROM (o.partner_id, o.mode)) AS known_id,
           -- Reserved by this call, be it for another item of it: the first that may go ahead gets it.
           EXISTS (SELECT FROM open_payments p WHERE p.payment_id = ANY (ids) AND p.qrc_id = o.qrc_id
               AND p.scope = CASE o.mode WHEN 'live' THEN live_scope ELSE o.partner_id END) AS qr_is_free
      FROM unnest(openings) WITH ORDINALITY AS o
      LEFT JOIN partners l ON l.id = o.partner_id
     ORDER BY o.partner_id, o.mode, first_item, o.ordinality
  LOOP
    IF next.partner_id IS DISTINCT FROM partner OR next.mode IS DISTINCT FROM partner_mode THEN
      partner := next.partner_id;
      partner_mode := next.mode;
      available := (SELECT a.available FROM accounts a WHERE a.partner_id = partner AND a.mode = partner_mode);
      under_way := (SELECT count(*) FROM open_payments p
                     WHERE p.partner_id = partner AND p.mode = partner_mode AND p.awaiting_gateway);
      turnover := NULL;
    END IF;
    IF next.daily_kopecks IS NOT NULL AND turnover IS NULL THEN
      turnover := (SELECT coalesce(sum(d.amount_kopecks), 0) FROM payments d
                    WHERE d.partner_id = partner AND d.mode = partner_mode AND d.id >= least_id
                      AND d.created_at >= day_start AND d.status IN ('processing', 'succeeded'));
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
    END IF;
    payment_id := key_payment;
    RETURN NEXT;
  END LOOP;

  IF cardinality(opened) < cardinality(openings) THEN
    DELETE FROM open_payments p USING unnest(openings) o
     WHERE p.payment_id = ANY (ids) AND p.scope || ' ' || p.qrc_id <> ALL (taken) AND p.qrc_id = o.qrc_id
       AND p.scope = CASE o.mode WHEN 'live' THEN live_scope ELSE o.partner_id END;
  END IF;
  IF cardinality(opened) = 0 THEN RETURN; END IF;

  UPDATE open_payments p
     SET partner_id = o.partner_id, mode = o.mode, payment_id = o.id, next_at = o.next_at, lease_holder = o.lease_holder,
         awaiting_gateway = true
    FROM unnest(opened) o
   WHERE p.qrc_id = o.qrc_id AND p.scope = CASE o.mode WHEN 'live' THEN live_scope ELSE o.partner_id END;
  PERFORM ledger_must_post(array_agg(o.partner_id), array_agg(o.mode), array_agg('hold'::ledger_operation),
                           array_agg(o.id), array_agg(o.micro_usdt), at)
     FROM unnest(opened) o;
  INSERT INTO payments (partner_id, mode, id, status, status_detail, idempotency_key, request_hash, external_id, qrc_id,
                        qr_url, fingerprint, recipient, amount_kopecks, micro_usdt, rate_e4, rate_id, metadata, created_at)
    SELECT o.partner_id, o.mode, o.id, 'processing', 'awaiting_gateway', o.idempotency_key, o.request_hash, o.external_id,
           o.qrc_id, o.qr_url, o.fingerprint, o.recipient, o.amount_kopecks, o.micro_usdt, o.rate_e4, o.rate_id,
           o.metadata, at
      FROM unnest(opened) o;
END $$;

DROP FUNCTION payments_finish(uuid[], mode[], uuid[], payment_status[], text[], text[], timestamptz);

-- Ends payments, each at most once, whoever comes first: only a payment that is still processing changes, and only
-- then does money move and is its event written. With an order of the gateway on record, neither an answer about another
-- order nor one that says there is none ends anything.
-- `standing` is how the payment stands now: whoever came second may have heard the opposite.
CREATE FUNCTION payments_finish(
  partner_ids uuid[], modes mode[], ids uuid[], outcomes payment_status[], error_codes text[], order_ids text[],
  at timestamptz
) RETURNS TABLE (item bigint, changed boolean, standing payment_status)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
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
    DELETE FROM open_payments p USING unnest(ended) e
     WHERE p.payment_id = e.id AND p.qrc_id = e.qrc_id
       AND p.scope = CASE e.mode WHEN 'live' THEN live_scope ELSE e.partner_id END;
    INSERT INTO events (partner_id, mode, payment_id, at)
      SELECT e.partner_id, e.mode, e.id, payments_finish.at FROM unnest(ended) e WHERE e.status <> 'rejected';
  END IF;

  RETURN QUERY
    SELECT f.item, c.changed,
           CASE WHEN c.changed THEN f.outcome
                ELSE (SELECT p.status FROM payments p
                       WHERE p.partner_id = f.partner_id AND p.mode = f.mode AND p.id = f.id) END
      FROM (SELECT *, min(a.item) OVER (PARTITION BY a.id) AS first_item
              FROM unnest(partner_ids, modes, ids, outcomes)
                   WITH ORDINALITY AS a (partner_id, mode, id, outcome, item)) AS f,
           LATERAL (SELECT f.item = f.first_item AND EXISTS (SELECT FROM unnest(ended) e WHERE e.id = f.id)) AS c (changed);
END $$;
