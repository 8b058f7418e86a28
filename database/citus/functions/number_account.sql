-- Gives a new account the range of its event numbers: an identity would give each node a range of its own, and numbers would go
-- back when the shard moves.
-- Trigger: accounts.
CREATE OR REPLACE FUNCTION number_account() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  state shard_state;
BEGIN
  UPDATE shard_state SET accounts = accounts + 1;
  SELECT s.* INTO state FROM shard_state s;
  NEW.last_event_id := state.number * 1000000000000000 + state.accounts * 10000000000;
  RETURN NEW;
END $$;
