-- The form of functions/further_deliveries_end.sql for a shard on Citus, with the same rules: see there. No statement gets an element
-- of an array: an UPDATE with one ends the server of the coordinator with a segmentation fault (Citus 14). So each has a variable.
CREATE OR REPLACE FUNCTION further_deliveries_end(
  endpoint_ids uuid[], event_ids bigint[], attempt_nos int[], delivered boolean[], hung boolean[], statuses int[],
  errors text[], durations_ms int[], next_ats timestamptz[], ats timestamptz[], subjects text[], alarm_detail text
) RETURNS TABLE (endpoint_id uuid, suspended boolean)
LANGUAGE plpgsql AS $$
DECLARE
  endpoint uuid;
  event bigint;
  attempt_no int;
  status_now int;
  error_now text;
  duration int;
  next_attempt timestamptz;
  ended_at timestamptz;
  hangs boolean;
  owner_id uuid;
  address text;
  was_hanging boolean;
  was_given_up int;
  was_suspended_at timestamptz;
  in_a_row int;
BEGIN
  PERFORM FROM (SELECT DISTINCT e FROM unnest(endpoint_ids) e ORDER BY 1) AS k,
       LATERAL (SELECT FROM further_webhooks w WHERE w.endpoint_id = k.e FOR NO KEY UPDATE) AS w;

  FOR i IN 1 .. cardinality(event_ids) LOOP
    endpoint := endpoint_ids[i];
    event := event_ids[i];
    attempt_no := attempt_nos[i];
    status_now := statuses[i];
    error_now := errors[i];
    duration := durations_ms[i];
    next_attempt := next_ats[i];
    ended_at := ats[i];
    hangs := hung[i] AND NOT delivered[i];
    SELECT w.partner_id, w.url, w.hanging, w.given_up, w.suspended_at
      INTO owner_id, address, was_hanging, was_given_up, was_suspended_at
      FROM further_webhooks w WHERE w.endpoint_id = endpoint;
    CONTINUE WHEN NOT FOUND;

    INSERT INTO webhook_attempts (partner_id, event_id, attempt, at, status, error, duration_ms, endpoint_id)
      VALUES (owner_id, event, attempt_no, ended_at, status_now, error_now, duration, endpoint);
    IF delivered[i] THEN
      DELETE FROM further_deliveries d WHERE d.endpoint_id = endpoint AND d.event_id = event;
      in_a_row := 0;
    ELSE
      -- Optimistic locking: only the next attempt counts.
      UPDATE further_deliveries d
         SET attempts = attempt_no, next_at = coalesce(next_attempt, d.next_at),
             failed_at = CASE WHEN next_attempt IS NULL THEN ended_at END
       WHERE d.endpoint_id = endpoint AND d.event_id = event AND d.attempts = attempt_no - 1 AND d.failed_at IS NULL;
      in_a_row := was_given_up;
      IF FOUND AND next_attempt IS NULL THEN
        in_a_row := in_a_row + 1;
        PERFORM notify_of_endpoint(owner_id, 'delivery_failed', jsonb_build_object('event_id', event, 'url', address),
                                   ended_at, NULL, NULL);
      END IF;
    END IF;

    suspended := was_suspended_at IS NULL AND in_a_row >= 3;
    IF suspended THEN
      PERFORM notify_of_endpoint(owner_id, 'sending_suspended', jsonb_build_object('url', address), ended_at,
                                 subjects[i], alarm_detail);
      was_suspended_at := ended_at;
    END IF;
    -- An endpoint that keeps answering needs no write.
    IF suspended OR in_a_row <> was_given_up OR hangs <> was_hanging THEN
      UPDATE further_webhooks w SET hanging = hangs, given_up = in_a_row, suspended_at = was_suspended_at
       WHERE w.endpoint_id = endpoint;
    END IF;
    endpoint_id := endpoint;
    IF suspended THEN RETURN NEXT; END IF;
  END LOOP;
END $$;
