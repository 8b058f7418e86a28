-- The form of functions/event_is_lost.sql for a shard on Citus: there the numbers of each account jump.
CREATE OR REPLACE FUNCTION event_is_lost(event_id bigint) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM account_gaps g WHERE g.last_event_id < event_id AND g.next_event_id > event_id);
END $$;
