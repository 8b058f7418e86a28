-- A shard that joins an incarnation records the server that it is on: only the server itself knows which one that is.
-- Trigger: shard_state.
CREATE OR REPLACE FUNCTION record_node() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.node IS NULL THEN NEW.node := node_identity(); END IF;
  RETURN NEW;
END $$;
