-- Writes a notice for the partner and, with a subject, the alarm of a suspension.
CREATE OR REPLACE FUNCTION notify_of_endpoint(
  partner uuid, notice text, notice_details jsonb, noticed_at timestamptz, alarm_subject text, alarm_detail text
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO partner_notices (partner_id, kind, details, at) VALUES (partner, notice, notice_details, noticed_at);
  IF alarm_subject IS NOT NULL THEN
    INSERT INTO alarms AS a (kind, subject, detail, first_at, last_at)
      VALUES ('webhook_suspended', alarm_subject, alarm_detail, noticed_at, noticed_at)
      ON CONFLICT (kind, subject) WHERE cleared_at IS NULL
        DO UPDATE SET last_at = greatest(a.last_at, excluded.last_at), times = a.times + 1;
  END IF;
END $$;
