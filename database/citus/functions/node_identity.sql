-- Which history the server has that this is called on: its system identifier, and the timeline of the WAL that it writes. Another
-- timeline means a promotion or a restore. The one in the control file follows only with the next checkpoint.
CREATE OR REPLACE FUNCTION node_identity() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN (pg_control_system()).system_identifier || '/'
         || ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int;
END $$;
