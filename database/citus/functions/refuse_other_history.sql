-- No money moves on a server that may have lost commits of this shard, before the incarnation that finds them has begun. Sessions
-- of the service are checked when they are opened; those that the coordinator opens to a node are not.
-- Trigger: entries.
CREATE OR REPLACE FUNCTION refuse_other_history() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  server CONSTANT text := node_identity();
  state shard_state;
BEGIN
  SELECT s.* INTO state FROM shard_state s;
  IF server IS DISTINCT FROM state.node AND server IS DISTINCT FROM state.next_node THEN
    RAISE EXCEPTION 'the node of this shard has another history' USING ERRCODE = 'cannot_connect_now';
  END IF;
  RETURN NULL;
END $$;
