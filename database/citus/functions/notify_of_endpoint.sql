-- The form of functions/notify_of_endpoint.sql for a shard on Citus: see deliveries_end.sql here.
CREATE OR REPLACE FUNCTION notify_of_endpoint(
  partner uuid, notice text, notice_details jsonb, noticed_at timestamptz, alarm_subject text, alarm_detail text
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO pending_notices (partner_id, kind, details, at, alarm_subject, alarm_detail)
    VALUES (partner, notice, notice_details, noticed_at, notify_of_endpoint.alarm_subject, notify_of_endpoint.alarm_detail);
END $$;
