-- Keeps prune_test_data out until the end of the transaction: for those that move test rows to the archive, or write a row
-- that refers to one.
CREATE OR REPLACE FUNCTION wait_for_test_pruning() RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock_shared(7310861003)
$$;
