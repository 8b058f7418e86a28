-- Payments: what a partner asked for and what became of it.

-- 'rejected' is an attempt that the gateway refused before acceptance: kept on record, but not a payment.
CREATE TYPE payment_status AS ENUM ('processing', 'succeeded', 'failed', 'rejected');
CREATE TYPE payment_detail AS ENUM ('awaiting_gateway', 'manual_review', 'gateway_declined');

CREATE TABLE payments (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  id uuid NOT NULL,
  status payment_status NOT NULL,
  status_detail payment_detail,
  -- Stands beside the status so that a change of status touches no index.
  rejected boolean NOT NULL DEFAULT false,
  idempotency_key text NOT NULL,
  request_hash bytea NOT NULL,
  external_id text,
  qrc_id text NOT NULL,
  qr_url text NOT NULL,
  fingerprint text NOT NULL,
  recipient text NOT NULL,
  amount_kopecks bigint NOT NULL CHECK (amount_kopecks > 0),
  micro_usdt bigint NOT NULL CHECK (micro_usdt > 0),
  rate_e4 bigint NOT NULL CHECK (rate_e4 > 0),
  rate_id bigint NOT NULL,
  -- Text and not json: it comes back byte for byte as it was accepted.
  metadata text NOT NULL,
  gateway_order_id text,
  error_code text,
  created_at timestamptz NOT NULL,
  settled_at timestamptz,
  PRIMARY KEY (partner_id, mode, id),
  CONSTRAINT payments_end_when_settled CHECK ((status = 'processing') = (settled_at IS NULL)),
  CONSTRAINT payments_fail_for_a_reason CHECK ((status IN ('failed', 'rejected')) = (error_code IS NOT NULL)),
  CONSTRAINT payments_are_rejected_or_not CHECK (rejected = (status = 'rejected'))
) WITH (fillfactor = 75);

-- What binds a key is an accepted payment, for ever; a rejected attempt leaves it free. It leads with the key, and
-- look-ups compare the rest with IS NOT DISTINCT FROM, so that no plan made while the table was empty reads all
-- payments of a partner instead.
CREATE UNIQUE INDEX payments_once_per_key ON payments (idempotency_key, partner_id, mode) WHERE NOT rejected;

-- One row per unfinished payment: the guard against paying a QR code twice at a time, the count of payments under
-- way, and what to do next and when. The guard spans all partners in live mode (scope: nobody) and one in test mode.
CREATE TABLE open_payments (
  scope uuid NOT NULL,
  qrc_id text NOT NULL,
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  payment_id uuid NOT NULL,
  awaiting_gateway boolean NOT NULL,
  next_at timestamptz NOT NULL,
  tries int NOT NULL DEFAULT 0,
  PRIMARY KEY (scope, qrc_id)
) WITH (fillfactor = 50);
CREATE INDEX open_payments_by_partner ON open_payments (partner_id, mode);
CREATE INDEX open_payments_by_time ON open_payments (next_at);

CREATE TYPE payment_opening AS (
  partner_id uuid, mode mode, id uuid, idempotency_key text, request_hash bytea, external_id text,
  qrc_id text, qr_url text, fingerprint text, recipient text, amount_kopecks bigint, micro_usdt bigint,
  rate_e4 bigint, rate_id bigint, rate_stale_at timestamptz, metadata text, next_at timestamptz
);

CREATE TYPE opening_verdict AS ENUM (
  'opened', 'known', 'rate_unavailable', 'duplicate_qr_in_flight', 'gateway_busy', 'daily_limit_exceeded',
  'insufficient_balance', 'no_account'
);

-- Opens payments: decides in one transaction whether each may go ahead, and if so debits it. The order of the checks
-- is that of the API. 'known' means that its idempotency key has a payment already, which is named.
--
-- Locks are taken in one order: accounts by their key, then QR codes by theirs.
CREATE FUNCTION payments_open(openings payment_opening[], at timestamptz)
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
     SET partner_id = o.partner_id, mode = o.mode, payment_id = o.id, next_at = o.next_at, awaiting_gateway = true
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

-- Posts what has been decided already under the same locks: anything but success is a bug, and undoes everything.
CREATE FUNCTION ledger_must_post(
  partner_ids uuid[], modes mode[], operations ledger_operation[], payment_ids uuid[], amounts bigint[], at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  wrong record;
BEGIN
  SELECT r.item, r.verdict INTO wrong
    FROM ledger_post(partner_ids, modes, operations, payment_ids, array_fill(NULL::text, ARRAY[cardinality(modes)]),
                     amounts, at) r
   WHERE r.verdict <> 'done' LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'payment % cannot be posted: %', payment_ids[wrong.item], wrong.verdict
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
END $$;

-- Ends payments, each at most once, whoever comes first: only a payment that is still processing changes, and only
-- then does money move.
CREATE FUNCTION payments_finish(
  partner_ids uuid[], modes mode[], ids uuid[], outcomes payment_status[], error_codes text[], order_ids text[],
  at timestamptz
) RETURNS TABLE (item bigint, changed boolean)
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
  END IF;

  RETURN QUERY
    SELECT f.item, EXISTS (SELECT FROM unnest(ended) e WHERE e.id = f.id)
           AND f.item = min(f.item) OVER (PARTITION BY f.id)
      FROM unnest(ids) WITH ORDINALITY AS f (id, item);
END $$;
