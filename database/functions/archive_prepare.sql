-- Makes the partitions of a month, if they are missing. Returns false if its payments were dropped: what is still live of
-- such a month stays live. Partitions are made alone and then attached, which blocks no reader: CREATE TABLE … PARTITION OF
-- would wait for all readers of the archive, and all others would wait behind it. On Citus each goes to the workers by itself.
--
-- It has the rights of the schema's owner: the role of the service may not create tables (src/db/roles/roles.ts).
CREATE OR REPLACE FUNCTION archive_prepare(month date) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  next_month CONSTANT date := month + interval '1 month';
  made record;
BEGIN
  PERFORM require_month(month);
  INSERT INTO archived_months (month) VALUES (month) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN (SELECT m.dropped_at IS NULL FROM archived_months m WHERE m.month = archive_prepare.month);
  END IF;
  -- For Citus, since the partitions have triggers; other servers ignore it. Not a SET of the function: only a superuser may write one
  -- for a setting that the server does not know.
  PERFORM set_config('citus.enable_unsafe_triggers', 'on', true);
  FOR made IN
    SELECT k.of || '_archive' AS archive, k.of || '_archive_' || to_char(month, 'YYYY_MM') AS name, k.first, k.beyond
      FROM (VALUES ('payments', archive_first_id(month)::text, archive_first_id(next_month)::text),
                   ('events', archive_first_id(month)::text, archive_first_id(next_month)::text),
                   ('entries', month || ' 00:00:00+00', next_month || ' 00:00:00+00')) AS k (of, first, beyond)
  LOOP
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING CONSTRAINTS)', made.name, made.archive);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                   made.archive, made.name, made.first, made.beyond);
    EXECUTE format('CREATE TRIGGER is_not_truncated BEFORE TRUNCATE ON %I
                      FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', made.name);
  END LOOP;
  RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION archive_prepare FROM PUBLIC;
