-- An event that is live or archived. In this order none is missed.
CREATE OR REPLACE FUNCTION event_anywhere(partner uuid, in_mode mode, event bigint) RETURNS SETOF events
LANGUAGE plpgsql STABLE ROWS 1 AS $$
BEGIN
  RETURN QUERY SELECT e.* FROM events e WHERE e.partner_id = partner AND e.mode = in_mode AND e.id = event;
  IF FOUND THEN RETURN; END IF;
  RETURN QUERY SELECT a.* FROM archived_events_from(partner, in_mode, event, 1) a WHERE a.id = event;
END $$;
