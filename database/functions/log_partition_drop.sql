-- Drops a partition of a log, with the rights of the schema's owner. That locks the whole table until the commit, for some
-- milliseconds: only the catalog changes.
CREATE OR REPLACE FUNCTION log_partition_drop(log text, partition text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM refuse_unless_log(log);
  EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', log);
  IF NOT EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                  WHERE i.inhparent = to_regclass(quote_ident(log)) AND c.relname = partition
                    AND partition <> log || '_default') THEN
    RAISE EXCEPTION '% is not a partition of %', partition, log USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  EXECUTE format('DROP TABLE %I', partition);
END $$;
REVOKE EXECUTE ON FUNCTION log_partition_drop FROM PUBLIC;
