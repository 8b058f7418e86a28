-- Only logs have a default partition. The archive has partitions too, and none of them may be dropped.
CREATE OR REPLACE FUNCTION refuse_unless_log(log text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_partitioned_table p
                  WHERE p.partrelid = to_regclass(quote_ident(log)) AND p.partdefid <> 0) THEN
    RAISE EXCEPTION '% is not a log with partitions', log USING ERRCODE = 'integrity_constraint_violation';
  END IF;
END $$;
