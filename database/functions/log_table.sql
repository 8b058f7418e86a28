-- The quoted address of a log, or of a partition of it, for a statement. These are all the logs there are: functions with the rights of
-- the owner write no other name into a statement, whatever tables a caller has made. Two logs stand once, and each shard has the others.
CREATE OR REPLACE FUNCTION log_table(log text, suffix text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE log
    WHEN 'api_requests', 'partner_notices' THEN RETURN format('public.%I', log || suffix);
    WHEN 'gateway_calls', 'webhook_attempts' THEN RETURN format('%I.%I', current_schema(), log || suffix);
    ELSE RAISE EXCEPTION '% is not a log with partitions', log USING ERRCODE = 'integrity_constraint_violation';
  END CASE;
END $$;
