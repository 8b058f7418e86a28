-- Events on their way to the partners.

CREATE TABLE webhooks (
  partner_id uuid PRIMARY KEY REFERENCES partners (id),
  url text NOT NULL,
  -- Sealed with a key derived from SECRET_KEY. The one before signs too, until its time is over.
  secret bytea NOT NULL,
  old_secret bytea,
  old_secret_until timestamptz,
  -- The last attempt failed and took its time about it: the next ones do not stand in the way of others.
  hanging boolean NOT NULL DEFAULT false,
  -- Events in a row that were given up, with none delivered in between; three suspend sending.
  given_up int NOT NULL DEFAULT 0,
  suspended_at timestamptz,
  -- Events up to this one were kept while sending was suspended; they are sent one after the other.
  kept_until bigint,
  -- The process that sends to this partner, and until when nobody else does unless it dies.
  lease_holder int,
  leased_until timestamptz,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  CONSTRAINT webhooks_have_an_end_for_the_old_secret CHECK ((old_secret IS NULL) = (old_secret_until IS NULL))
);

-- One row per event that is not delivered yet; `failed_at` is set when it was given up.
CREATE TABLE deliveries (
  partner_id uuid NOT NULL,
  event_id bigint NOT NULL,
  mode mode NOT NULL,
  payment_id uuid NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL,
  failed_at timestamptz,
  PRIMARY KEY (partner_id, event_id)
) WITH (fillfactor = 75);
CREATE INDEX deliveries_due ON deliveries (partner_id, next_at, event_id) WHERE failed_at IS NULL;
CREATE INDEX deliveries_given_up ON deliveries (failed_at) WHERE failed_at IS NOT NULL;

-- An event never exists without its delivery, whoever writes it, as long as its partner wants to hear of it. It is due
-- at the time of the event, so that new events and repeated attempts take turns.
CREATE FUNCTION queue_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deliveries (partner_id, event_id, mode, payment_id, next_at)
    SELECT n.partner_id, n.id, n.mode, n.payment_id, n.at
      FROM new_events n JOIN webhooks w ON w.partner_id = n.partner_id;
  RETURN NULL;
END $$;
CREATE TRIGGER events_are_delivered AFTER INSERT ON events
  REFERENCING NEW TABLE AS new_events FOR EACH STATEMENT EXECUTE FUNCTION queue_deliveries();

-- What came of every attempt, for thirty days.
CREATE TABLE webhook_attempts (
  partner_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  event_id bigint NOT NULL,
  attempt int NOT NULL,
  at timestamptz NOT NULL,
  -- Of the answer, if there was one; else the kind of failure.
  status int,
  error text,
  duration_ms int NOT NULL,
  PRIMARY KEY (partner_id, id)
);
CREATE INDEX webhook_attempts_by_time ON webhook_attempts USING brin (at);

-- What partners are to be told; whoever tells them marks it.
CREATE TABLE partner_notices (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id uuid NOT NULL,
  kind text NOT NULL,
  details jsonb NOT NULL,
  at timestamptz NOT NULL,
  told_at timestamptz
);
CREATE INDEX partner_notices_untold ON partner_notices (id) WHERE told_at IS NULL;

-- Puts the ends of attempts on record, each event's next attempt with it: delivered and gone, again later (`next_ats`),
-- or given up where that is null. The third event in a row that is given up suspends sending, and with it come the
-- partner's notice and the alarm, which calls the partner by its `subject`. Items are in the order in which the attempts
-- ended. Locks are taken in one order: webhooks by their key, then deliveries.
CREATE FUNCTION deliveries_end(
  partner_ids uuid[], event_ids bigint[], attempt_nos int[], delivered boolean[], hung boolean[], statuses int[],
  errors text[], durations_ms int[], next_ats timestamptz[], ats timestamptz[], subjects text[], alarm_detail text
) RETURNS TABLE (partner_id uuid, suspended boolean)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
  all_delivered CONSTANT boolean := true = ALL (delivered);
  given_up_now bigint[];
BEGIN
  -- A receiver that goes on answering needs no write here.
  PERFORM FROM (SELECT DISTINCT p FROM unnest(partner_ids) p ORDER BY 1) AS k,
       LATERAL (SELECT FROM webhooks w WHERE w.partner_id = k.p
                   AND (w.hanging OR w.given_up > 0 OR NOT all_delivered) FOR UPDATE) AS w;

  INSERT INTO webhook_attempts (partner_id, event_id, attempt, at, status, error, duration_ms)
    SELECT * FROM unnest(partner_ids, event_ids, attempt_nos, ats, statuses, errors, durations_ms);

  IF all_delivered THEN
    UPDATE webhooks w SET hanging = false, given_up = 0
     WHERE w.partner_id = ANY (partner_ids) AND (w.hanging OR w.given_up > 0);
  END IF;
  DELETE FROM deliveries d USING unnest(partner_ids, event_ids, delivered) AS a (partner_id, event_id, delivered)
   WHERE d.partner_id = a.partner_id AND d.event_id = a.event_id AND a.delivered;
  IF all_delivered THEN RETURN; END IF;

  -- Only the attempt that is next counts: of two processes one comes late, and meanwhile the event was delivered, tried
  -- again, given up, or an operator has sent it anew.
  WITH failed AS (
    UPDATE deliveries d
       SET attempts = a.attempt, next_at = coalesce(a.next_at, d.next_at),
           failed_at = CASE WHEN a.next_at IS NULL THEN a.at END
      FROM unnest(partner_ids, event_ids, attempt_nos, delivered, next_ats, ats)
           AS a (partner_id, event_id, attempt, delivered, next_at, at)
     WHERE d.partner_id = a.partner_id AND d.event_id = a.event_id AND NOT a.delivered
       AND d.attempts = a.attempt - 1 AND d.failed_at IS NULL
    RETURNING d.partner_id, d.event_id, d.failed_at
  ), told AS (
    INSERT INTO partner_notices (partner_id, kind, details, at)
      SELECT f.partner_id, 'delivery_failed', jsonb_build_object('event_id', f.event_id), f.failed_at
        FROM failed f WHERE f.failed_at IS NOT NULL
  )
  SELECT coalesce(array_agg(f.event_id), '{}') INTO given_up_now FROM failed f WHERE f.failed_at IS NOT NULL;

  RETURN QUERY
    WITH ends AS (
      SELECT a.partner_id, a.subject, a.delivered, a.hung, a.event_id, a.event_id = ANY (given_up_now) AS given_up, a.at,
             a.item, max(a.item) FILTER (WHERE a.delivered) OVER (PARTITION BY a.partner_id) AS last_delivered,
             max(a.item) OVER (PARTITION BY a.partner_id) AS last_item
        FROM unnest(partner_ids, subjects, event_ids, delivered, hung, ats) WITH ORDINALITY
             AS a (partner_id, subject, event_id, delivered, hung, at, item)
    ), partners AS (
      SELECT e.partner_id, min(e.subject) AS subject, bool_or(e.delivered) AS any_delivered,
             count(DISTINCT e.event_id) FILTER (WHERE e.given_up AND e.item > coalesce(e.last_delivered, 0)) AS given_up,
             bool_or(e.item = e.last_item AND e.hung) AS hanging, max(e.at) AS at
        FROM ends e GROUP BY e.partner_id
    ), verdicts AS (
      SELECT p.*, n.in_a_row, w.suspended_at IS NULL AND n.in_a_row >= 3 AS suspends
        FROM partners p JOIN webhooks w ON w.partner_id = p.partner_id
       CROSS JOIN LATERAL (SELECT CASE WHEN p.any_delivered THEN 0 ELSE w.given_up END + p.given_up AS in_a_row) AS n
    ), changed AS (
      UPDATE webhooks w
         SET hanging = v.hanging, given_up = v.in_a_row,
             suspended_at = CASE WHEN v.suspends THEN v.at ELSE w.suspended_at END
        FROM verdicts v WHERE w.partner_id = v.partner_id
    ), told AS (
      INSERT INTO partner_notices (partner_id, kind, details, at)
        SELECT v.partner_id, 'sending_suspended', '{}', v.at FROM verdicts v WHERE v.suspends
    ), alarmed AS (
      INSERT INTO alarms AS a (kind, subject, detail, first_at, last_at)
        SELECT 'webhook_suspended', v.subject, alarm_detail, v.at, v.at FROM verdicts v WHERE v.suspends
        ON CONFLICT (kind, subject) WHERE cleared_at IS NULL
          DO UPDATE SET last_at = greatest(a.last_at, excluded.last_at), times = a.times + 1
    )
    SELECT v.partner_id, v.suspends FROM verdicts v WHERE v.suspends;
END $$;
