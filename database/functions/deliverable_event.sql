-- The event with a number, of a payment or of a refund. The archive is asked last.
CREATE OR REPLACE FUNCTION deliverable_event(partner uuid, in_mode mode, event bigint) RETURNS SETOF deliverable_events
LANGUAGE plpgsql STABLE ROWS 1 AS $$
BEGIN
  RETURN QUERY SELECT e.partner_id, e.mode, e.id, e.payment_id, e.at, NULL::text
                 FROM events e WHERE e.partner_id = partner AND e.mode = in_mode AND e.id = event;
  IF FOUND THEN RETURN; END IF;
  RETURN QUERY SELECT r.partner_id, r.mode, r.event_id, r.payment_id, r.booked_at, r.refund_id
                 FROM refunds r WHERE r.partner_id = partner AND r.mode = in_mode AND r.event_id = event;
  IF FOUND THEN RETURN; END IF;
  RETURN QUERY SELECT a.partner_id, a.mode, a.id, a.payment_id, a.at, NULL::text
                 FROM archived_events_from(partner, in_mode, event, 1) a WHERE a.id = event;
END $$;
