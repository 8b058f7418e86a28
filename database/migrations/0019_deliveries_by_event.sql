-- The console lists the deliveries of all partners, newest event first. Two partial indexes, so that each state is one range:
-- a suspended endpoint may have a million pending deliveries in front of the few that failed. New events have the highest
-- ids, so an insert always goes to the last page.
CREATE INDEX deliveries_pending_by_event ON deliveries (event_id) WHERE failed_at IS NULL;
CREATE INDEX deliveries_failed_by_event ON deliveries (event_id) WHERE failed_at IS NOT NULL;
