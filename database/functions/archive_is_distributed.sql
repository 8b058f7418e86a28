-- Whether the archive is on the workers of a Citus cluster (`kopeck archive distribute`).
CREATE OR REPLACE FUNCTION archive_is_distributed() RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
  is_distributed boolean := false;
BEGIN
  IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
    EXECUTE 'SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_partition d WHERE d.logicalrelid = ''payments_archive''::regclass)'
      INTO is_distributed;
  END IF;
  RETURN is_distributed;
END $$;
