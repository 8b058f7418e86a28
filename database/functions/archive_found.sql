-- What is in the archive, in the form of archive_sums. Times are written in the time zone of the session: UTC.
CREATE OR REPLACE FUNCTION archive_found() RETURNS TABLE (
  kind text, partner_id uuid, mode mode, month date, rows bigint, digest numeric
) LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT 'payments', a.partner_id, a.mode, archive_month_of(a.id), count(*), sum(archive_digest(to_jsonb(a)))
                 FROM payments_archive a GROUP BY 2, 3, 4;
  RETURN QUERY SELECT 'events', a.partner_id, a.mode, archive_month_of(a.payment_id), count(*), sum(archive_digest(to_jsonb(a)))
                 FROM events_archive a GROUP BY 2, 3, 4;
  RETURN QUERY SELECT 'entries', a.partner_id, a.mode, date_trunc('month', a.created_at AT TIME ZONE 'UTC')::date, count(*),
                      sum(archive_digest(to_jsonb(a)))
                 FROM entries_archive a GROUP BY 2, 3, 4;
END $$;
