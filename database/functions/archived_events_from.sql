-- Archived events of an account from a number on, the oldest first, without those that are still live (as for payments, see
-- archived_payments_between).
CREATE OR REPLACE FUNCTION archived_events_from(partner uuid, in_mode mode, first_id bigint, most bigint) RETURNS SETOF events
LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF EXISTS (SELECT FROM archive_sums s WHERE s.partner_id = partner AND s.mode = in_mode AND s.last_event_id >= first_id) THEN
    RETURN QUERY SELECT a.* FROM archive_events_of(partner, in_mode, first_id, most) a
                  WHERE NOT EXISTS (SELECT FROM events e
                                     WHERE e.partner_id = partner AND e.mode = in_mode AND e.id = a.id);
  END IF;
END $$;
