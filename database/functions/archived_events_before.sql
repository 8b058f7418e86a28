-- Archived events of an account with numbers above one and below another, the newest first. Some may still be live.
CREATE OR REPLACE FUNCTION archived_events_before(partner uuid, in_mode mode, beyond bigint, before bigint, most bigint)
RETURNS SETOF events LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF EXISTS (SELECT FROM archive_sums s WHERE s.partner_id = partner AND s.mode = in_mode AND s.last_event_id > beyond) THEN
    RETURN QUERY SELECT a.* FROM events_archive a
                  WHERE a.partner_id = partner AND a.mode = in_mode AND a.id > beyond AND a.id < before
                  ORDER BY a.id DESC LIMIT most;
  END IF;
END $$;
