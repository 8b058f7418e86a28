-- Whether numbers jumped over this one, since the database may have forgotten its event.
CREATE OR REPLACE FUNCTION event_is_lost(event_id bigint) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM incarnations i WHERE i.last_event_id < event_id AND i.next_event_id > event_id);
END $$;
