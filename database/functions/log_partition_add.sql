-- Adds the partition of a period to a log, with the rows that wait for it in the default partition. It has the rights of the
-- schema's owner: the role of the service may not create or alter tables (src/db/roles.ts).
--
-- Writes and reads wait for the commit, which follows within milliseconds. Without the lock on the table, a row on its way to
-- the default partition would be refused there, since its period has a partition now.
CREATE OR REPLACE FUNCTION log_partition_add(log text, first timestamptz, beyond timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET TimeZone = 'UTC' AS $$
DECLARE
  partition CONSTANT text := log || '_' || to_char(first, 'YYYYMMDD');
BEGIN
  PERFORM refuse_unless_log(log);
  EXECUTE format('LOCK TABLE ONLY %I IN SHARE ROW EXCLUSIVE MODE', log);
  EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', log || '_default');
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)', partition, log);
  EXECUTE format('WITH moved AS (DELETE FROM %I WHERE at >= $1 AND at < $2 RETURNING *) INSERT INTO %I SELECT * FROM moved',
                 log || '_default', partition) USING first, beyond;
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', log, partition, first, beyond);
END $$;
REVOKE EXECUTE ON FUNCTION log_partition_add FROM PUBLIC;
