-- Records the results of delivery attempts and what follows from each: delivered and removed, the next attempt
-- (`next_ats`), or given up where that is null. The third event in a row that is given up suspends sending (the circuit
-- breaker of webhooks) and writes the partner's notice and the alarm, which names the endpoint by its `subject`. Items are
-- in the order in which the attempts ended; those of an endpoint that was removed meanwhile are dropped. Locks are taken in
-- one order: endpoints by their key, then deliveries.
--
-- Planner settings: see payments_open.sql.
CREATE OR REPLACE FUNCTION deliveries_end(
  endpoint_ids uuid[], event_ids bigint[], attempt_nos int[], delivered boolean[], hung boolean[], statuses int[],
  errors text[], response_bodies text[], durations_ms int[], next_ats timestamptz[], ats timestamptz[], subjects text[], alarm_detail text
) RETURNS TABLE (endpoint_id uuid, suspended boolean)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET cpu_index_tuple_cost = 10
AS $$
DECLARE
  all_delivered CONSTANT boolean := true = ALL (delivered);
  given_up_now bigint[];
BEGIN
  -- An endpoint whose receiver keeps answering needs no write, and so no lock.
  PERFORM FROM (SELECT DISTINCT e FROM unnest(endpoint_ids) e ORDER BY 1) AS k,
       LATERAL (SELECT FROM endpoints w WHERE w.endpoint_id = k.e
                   AND (w.hanging OR w.given_up > 0 OR NOT all_delivered) FOR NO KEY UPDATE) AS w;

  INSERT INTO webhook_attempts (partner_id, endpoint_id, event_id, attempt, at, status, error, response_body, duration_ms)
    SELECT w.partner_id, w.endpoint_id, a.event_id, a.attempt, a.at, a.status, a.error, a.response_body, a.duration_ms
      FROM unnest(endpoint_ids, event_ids, attempt_nos, ats, statuses, errors, response_bodies, durations_ms) WITH ORDINALITY
           AS a (endpoint_id, event_id, attempt, at, status, error, response_body, duration_ms, item)
      JOIN endpoints w ON w.endpoint_id = a.endpoint_id
     ORDER BY a.item;

  IF all_delivered THEN
    UPDATE endpoints w SET hanging = false, given_up = 0
     WHERE w.endpoint_id = ANY (endpoint_ids) AND (w.hanging OR w.given_up > 0);
  END IF;
  DELETE FROM deliveries d
    USING unnest(endpoint_ids, event_ids, delivered) WITH ORDINALITY AS a (endpoint_id, event_id, delivered, item)
   WHERE a.item BETWEEN 1 AND cardinality(event_ids) AND d.endpoint_id = a.endpoint_id AND d.event_id = a.event_id AND a.delivered;
  IF all_delivered THEN RETURN; END IF;

  -- Optimistic locking: only the next attempt counts. When two processes tried, the later result is stale: it finds that the
  -- event was delivered, tried again, given up, or sent again by an operator, and changes nothing.
  WITH failed AS (
    UPDATE deliveries d
       SET attempts = a.attempt, next_at = coalesce(a.next_at, d.next_at),
           failed_at = CASE WHEN a.next_at IS NULL THEN a.at END
      FROM unnest(endpoint_ids, event_ids, attempt_nos, delivered, next_ats, ats) WITH ORDINALITY
           AS a (endpoint_id, event_id, attempt, delivered, next_at, at, item)
     WHERE a.item BETWEEN 1 AND cardinality(event_ids) AND d.endpoint_id = a.endpoint_id AND d.event_id = a.event_id AND NOT a.delivered
       -- Not IS NULL, for which the planner may take the index of what is due and read all of an endpoint.
       AND d.attempts = a.attempt - 1 AND coalesce(d.failed_at, 'infinity') = 'infinity'
    RETURNING a.item, d.endpoint_id, d.event_id, d.failed_at
  ), notices AS (
    INSERT INTO partner_notices (partner_id, kind, details, at)
      SELECT w.partner_id, 'delivery_failed', jsonb_build_object('event_id', f.event_id) || endpoint_in_notice(w), f.failed_at
        FROM failed f JOIN endpoints w ON w.endpoint_id = f.endpoint_id WHERE f.failed_at IS NOT NULL
  )
  SELECT coalesce(array_agg(f.item), '{}') INTO given_up_now FROM failed f WHERE f.failed_at IS NOT NULL;

  RETURN QUERY
    WITH ends AS (
      SELECT a.endpoint_id, a.subject, a.delivered, a.hung, a.item = ANY (given_up_now) AS given_up, a.at, a.item,
             max(a.item) FILTER (WHERE a.delivered) OVER (PARTITION BY a.endpoint_id) AS last_delivered,
             max(a.item) OVER (PARTITION BY a.endpoint_id) AS last_item
        FROM unnest(endpoint_ids, subjects, delivered, hung, ats) WITH ORDINALITY
             AS a (endpoint_id, subject, delivered, hung, at, item)
    ), endings AS (
      SELECT e.endpoint_id, min(e.subject) AS subject, bool_or(e.delivered) AS any_delivered,
             count(*) FILTER (WHERE e.given_up AND e.item > coalesce(e.last_delivered, 0)) AS given_up,
             bool_or(e.item = e.last_item AND e.hung) AS hanging, max(e.at) AS at
        FROM ends e GROUP BY e.endpoint_id
    ), verdicts AS (
      SELECT p.*, w.partner_id, endpoint_in_notice(w) AS details, n.in_a_row,
             w.suspended_at IS NULL AND n.in_a_row >= 3 AS suspends
        FROM endings p JOIN endpoints w ON w.endpoint_id = p.endpoint_id
       CROSS JOIN LATERAL (SELECT CASE WHEN p.any_delivered THEN 0 ELSE w.given_up END + p.given_up AS in_a_row) AS n
    ), changed AS (
      UPDATE endpoints w
         SET hanging = v.hanging, given_up = v.in_a_row,
             suspended_at = CASE WHEN v.suspends THEN v.at ELSE w.suspended_at END
        FROM verdicts v WHERE w.endpoint_id = v.endpoint_id
    ), notices AS (
      INSERT INTO partner_notices (partner_id, kind, details, at)
        SELECT v.partner_id, 'sending_suspended', v.details, v.at FROM verdicts v WHERE v.suspends
    ), alarmed AS (
      INSERT INTO alarms AS a (kind, subject, detail, first_at, last_at)
        SELECT 'webhook_suspended', v.subject, alarm_detail, v.at, v.at FROM verdicts v WHERE v.suspends
        ON CONFLICT (kind, subject) WHERE cleared_at IS NULL
          DO UPDATE SET last_at = greatest(a.last_at, excluded.last_at), times = a.times + 1
    )
    SELECT v.endpoint_id, v.suspends FROM verdicts v WHERE v.suspends;
END $$;
