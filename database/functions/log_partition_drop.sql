-- Drops a partition of a log, with the rights of the schema's owner. That locks the whole table until the commit, for some
-- milliseconds: only the catalog changes. The address of what is dropped comes from the catalog, not from the caller.
CREATE OR REPLACE FUNCTION log_partition_drop(log text, partition text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  parent CONSTANT text := log_table(log, '');
  found text;
BEGIN
  EXECUTE format('LOCK TABLE ONLY %s IN ACCESS EXCLUSIVE MODE', parent);
  SELECT format('%I.%I', n.nspname, c.relname) INTO found
    FROM pg_partitioned_table p JOIN pg_inherits i ON i.inhparent = p.partrelid AND i.inhrelid <> p.partdefid
    JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE p.partrelid = parent::regclass AND c.relname = partition;
  IF found IS NULL THEN
    RAISE EXCEPTION '% is not a partition of %', partition, log USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  EXECUTE format('DROP TABLE %s', found);
END $$;
REVOKE EXECUTE ON FUNCTION log_partition_drop FROM PUBLIC;
