-- The outbox of webhooks: an event and its delivery are written in one transaction, whatever statement writes the event,
-- if the partner has a webhook. The delivery is due at the time of the event, so that new events and retries take turns.
-- Trigger: events.
CREATE OR REPLACE FUNCTION queue_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deliveries (partner_id, event_id, mode, payment_id, next_at)
    SELECT n.partner_id, n.id, n.mode, n.payment_id, n.at
      FROM new_events n JOIN webhooks w ON w.partner_id = n.partner_id;
  RETURN NULL;
END $$;
