-- Processes cache API keys and partners. This notifies them of every change, so that they drop what they have.
-- Triggers: api_keys, partners.
CREATE OR REPLACE FUNCTION announce_access_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('access_changed', '');
  RETURN NULL;
END $$;
