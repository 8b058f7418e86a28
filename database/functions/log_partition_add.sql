-- Adds the partition of a period to a log, with the rows that wait for it in the default partition. It has the rights of the
-- schema's owner: the role of the service may not create or alter tables (src/db/roles/roles.ts).
--
-- Writes and reads wait for the commit, which follows within milliseconds. Without the lock on the table, a row on its way to
-- the default partition would be refused there, since its period has a partition now.
CREATE OR REPLACE FUNCTION log_partition_add(log text, first timestamptz, beyond timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET TimeZone = 'UTC' AS $$
DECLARE
  parent CONSTANT text := log_table(log, '');
  rest CONSTANT text := log_table(log, '_default');
  partition CONSTANT text := log_table(log, '_' || to_char(first, 'YYYYMMDD'));
BEGIN
  EXECUTE format('LOCK TABLE ONLY %s IN SHARE ROW EXCLUSIVE MODE', parent);
  EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', rest);
  EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)', partition, parent);
  EXECUTE format('WITH moved AS (DELETE FROM %s WHERE at >= $1 AND at < $2 RETURNING *) INSERT INTO %s SELECT * FROM moved',
                 rest, partition) USING first, beyond;
  EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%L) TO (%L)', parent, partition, first, beyond);
END $$;
REVOKE EXECUTE ON FUNCTION log_partition_add FROM PUBLIC;
