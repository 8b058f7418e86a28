-- The quoted address of a log, or of a partition of it, for a statement. These are all the logs there are: functions with the rights of
-- the owner write no other name into a statement, whatever tables a caller has made.
CREATE OR REPLACE FUNCTION log_table(log text, suffix text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  CASE log
    WHEN 'api_requests', 'api_request_bodies', 'gateway_calls', 'partner_notices', 'webhook_attempts' THEN
      RETURN format('public.%I', log || suffix);
    ELSE RAISE EXCEPTION '% is not a log with partitions', log USING ERRCODE = 'integrity_constraint_violation';
  END CASE;
END $$;
