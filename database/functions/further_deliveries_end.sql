-- Records the results of delivery attempts of further endpoints, as deliveries_end does for the first ones: see there. Most partners
-- have none, so the results are taken one after the other, in the order in which the attempts ended.
--
-- An endpoint that was removed meanwhile has no row any more, and its result is dropped. Locks are taken in one order: endpoints by
-- their key, then deliveries.
CREATE OR REPLACE FUNCTION further_deliveries_end(
  endpoint_ids uuid[], event_ids bigint[], attempt_nos int[], delivered boolean[], hung boolean[], statuses int[],
  errors text[], durations_ms int[], next_ats timestamptz[], ats timestamptz[], subjects text[], alarm_detail text
) RETURNS TABLE (endpoint_id uuid, suspended boolean)
LANGUAGE plpgsql AS $$
DECLARE
  hook record;
  in_a_row int;
BEGIN
  PERFORM FROM (SELECT DISTINCT e FROM unnest(endpoint_ids) e ORDER BY 1) AS k,
       LATERAL (SELECT FROM further_webhooks w WHERE w.endpoint_id = k.e FOR NO KEY UPDATE) AS w;

  FOR i IN 1 .. cardinality(event_ids) LOOP
    SELECT w.partner_id, w.url, w.hanging, w.given_up, w.suspended_at INTO hook
      FROM further_webhooks w WHERE w.endpoint_id = endpoint_ids[i];
    CONTINUE WHEN NOT FOUND;

    INSERT INTO webhook_attempts (partner_id, event_id, attempt, at, status, error, duration_ms, endpoint_id)
      VALUES (hook.partner_id, event_ids[i], attempt_nos[i], ats[i], statuses[i], errors[i], durations_ms[i], endpoint_ids[i]);
    IF delivered[i] THEN
      DELETE FROM further_deliveries d WHERE d.endpoint_id = endpoint_ids[i] AND d.event_id = event_ids[i];
      in_a_row := 0;
    ELSE
      -- Optimistic locking: only the next attempt counts.
      UPDATE further_deliveries d
         SET attempts = attempt_nos[i], next_at = coalesce(next_ats[i], d.next_at),
             failed_at = CASE WHEN next_ats[i] IS NULL THEN ats[i] END
       WHERE d.endpoint_id = endpoint_ids[i] AND d.event_id = event_ids[i]
         AND d.attempts = attempt_nos[i] - 1 AND d.failed_at IS NULL;
      in_a_row := hook.given_up;
      IF FOUND AND next_ats[i] IS NULL THEN
        in_a_row := in_a_row + 1;
        PERFORM notify_of_endpoint(hook.partner_id, 'delivery_failed',
                                   jsonb_build_object('event_id', event_ids[i], 'url', hook.url), ats[i], NULL, NULL);
      END IF;
    END IF;

    suspended := hook.suspended_at IS NULL AND in_a_row >= 3;
    IF suspended THEN
      PERFORM notify_of_endpoint(hook.partner_id, 'sending_suspended', jsonb_build_object('url', hook.url), ats[i],
                                 subjects[i], alarm_detail);
    END IF;
    -- An endpoint that keeps answering needs no write.
    IF suspended OR in_a_row <> hook.given_up OR (hung[i] AND NOT delivered[i]) <> hook.hanging THEN
      UPDATE further_webhooks w
         SET hanging = hung[i] AND NOT delivered[i], given_up = in_a_row,
             suspended_at = CASE WHEN suspended THEN ats[i] ELSE w.suspended_at END
       WHERE w.endpoint_id = endpoint_ids[i];
    END IF;
    endpoint_id := endpoint_ids[i];
    IF suspended THEN RETURN NEXT; END IF;
  END LOOP;
END $$;
