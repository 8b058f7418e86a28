-- The form of functions/deliveries_end.sql for a shard on Citus, with the same rules: see there, and payments_open.sql here.
-- Notices and alarms stand once, on another node: they wait in pending_notices until they are taken there.
CREATE OR REPLACE FUNCTION deliveries_end(
  partner_ids uuid[], event_ids bigint[], attempt_nos int[], delivered boolean[], hung boolean[], statuses int[],
  errors text[], durations_ms int[], next_ats timestamptz[], ats timestamptz[], subjects text[], alarm_detail text
) RETURNS TABLE (partner_id uuid, suspended boolean)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET cpu_index_tuple_cost = 10
AS $$
DECLARE
  all_delivered CONSTANT boolean := true = ALL (delivered);
  given_up_partners uuid[];
  given_up_now bigint[];
  given_up_ats timestamptz[];
  suspended_before uuid[];
  suspending uuid[];
BEGIN
  -- A partner whose receiver keeps answering needs no write to webhooks, and so no lock.
  PERFORM FROM (SELECT DISTINCT p FROM unnest(partner_ids) p ORDER BY 1) AS k,
       LATERAL (SELECT FROM webhooks w WHERE w.partner_id = k.p
                   AND (w.hanging OR w.given_up > 0 OR NOT all_delivered) FOR UPDATE) AS w;

  INSERT INTO webhook_attempts (partner_id, event_id, attempt, at, status, error, duration_ms)
    SELECT * FROM unnest(partner_ids, event_ids, attempt_nos, ats, statuses, errors, durations_ms);

  IF all_delivered THEN
    UPDATE webhooks w SET hanging = false, given_up = 0
     WHERE w.partner_id = ANY (partner_ids) AND (w.hanging OR w.given_up > 0);
  END IF;
  DELETE FROM deliveries d
    USING unnest(partner_ids, event_ids, delivered) WITH ORDINALITY AS a (partner_id, event_id, delivered, item)
   WHERE a.item BETWEEN 1 AND cardinality(event_ids) AND d.partner_id = a.partner_id AND d.event_id = a.event_id AND a.delivered;
  IF all_delivered THEN RETURN; END IF;

  -- Optimistic locking: only the next attempt counts.
  WITH failed AS (
    UPDATE deliveries d
       SET attempts = a.attempt, next_at = coalesce(a.next_at, d.next_at),
           failed_at = CASE WHEN a.next_at IS NULL THEN a.at END
      FROM unnest(partner_ids, event_ids, attempt_nos, delivered, next_ats, ats) WITH ORDINALITY
           AS a (partner_id, event_id, attempt, delivered, next_at, at, item)
     WHERE a.item BETWEEN 1 AND cardinality(event_ids) AND d.partner_id = a.partner_id AND d.event_id = a.event_id AND NOT a.delivered
       AND d.attempts = a.attempt - 1 AND coalesce(d.failed_at, 'infinity') = 'infinity'
    RETURNING d.partner_id, d.event_id, d.failed_at
  )
  SELECT coalesce(array_agg(f.partner_id), '{}'), coalesce(array_agg(f.event_id), '{}'), coalesce(array_agg(f.failed_at), '{}')
    INTO given_up_partners, given_up_now, given_up_ats FROM failed f WHERE f.failed_at IS NOT NULL;
  IF cardinality(given_up_now) > 0 THEN
    INSERT INTO pending_notices (partner_id, kind, details, at)
      SELECT f.partner_id, 'delivery_failed', jsonb_build_object('event_id', f.event_id), f.at
        FROM unnest(given_up_partners, given_up_now, given_up_ats) AS f (partner_id, event_id, at);
  END IF;

  suspended_before := ARRAY(SELECT w.partner_id FROM webhooks w
                             WHERE w.partner_id = ANY (partner_ids) AND w.suspended_at IS NOT NULL);
  WITH ends AS (
    SELECT a.partner_id, a.delivered, a.hung, a.event_id, a.event_id = ANY (given_up_now) AS given_up, a.at,
           a.item, max(a.item) FILTER (WHERE a.delivered) OVER (PARTITION BY a.partner_id) AS last_delivered,
           max(a.item) OVER (PARTITION BY a.partner_id) AS last_item
      FROM unnest(partner_ids, event_ids, delivered, hung, ats) WITH ORDINALITY
           AS a (partner_id, event_id, delivered, hung, at, item)
  ), ended AS (
    SELECT e.partner_id, bool_or(e.delivered) AS any_delivered,
           count(DISTINCT e.event_id) FILTER (WHERE e.given_up AND e.item > coalesce(e.last_delivered, 0)) AS given_up,
           bool_or(e.item = e.last_item AND e.hung) AS hanging, max(e.at) AS at
      FROM ends e GROUP BY e.partner_id
  ), changed AS (
    UPDATE webhooks w
       SET hanging = p.hanging, given_up = CASE WHEN p.any_delivered THEN 0 ELSE w.given_up END + p.given_up,
           suspended_at = CASE WHEN w.suspended_at IS NULL
                                AND CASE WHEN p.any_delivered THEN 0 ELSE w.given_up END + p.given_up >= 3
                               THEN p.at ELSE w.suspended_at END
      FROM ended p WHERE w.partner_id = p.partner_id
    RETURNING w.partner_id, w.suspended_at
  )
  SELECT coalesce(array_agg(c.partner_id), '{}') INTO suspending FROM changed c
   WHERE c.suspended_at IS NOT NULL AND c.partner_id <> ALL (suspended_before);
  IF cardinality(suspending) = 0 THEN RETURN; END IF;
  INSERT INTO pending_notices (partner_id, kind, details, at, alarm_subject, alarm_detail)
    SELECT a.partner_id, 'sending_suspended', '{}', max(a.at), min(a.subject), deliveries_end.alarm_detail
      FROM unnest(partner_ids, subjects, ats) AS a (partner_id, subject, at)
     WHERE a.partner_id = ANY (suspending) GROUP BY a.partner_id;
  RETURN QUERY SELECT s.partner_id, true FROM unnest(suspending) AS s (partner_id);
END $$;
