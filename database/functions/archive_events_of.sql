-- The rows of the archive, for archived_events_from.
CREATE OR REPLACE FUNCTION archive_events_of(partner uuid, in_mode mode, first_id bigint, most bigint) RETURNS SETOF events
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT a.* FROM events_archive a
                WHERE a.partner_id = partner AND a.mode = in_mode AND a.id >= first_id ORDER BY a.id LIMIT most;
END $$;
