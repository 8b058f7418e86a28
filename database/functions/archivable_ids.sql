-- Of up to `batch` payments of an account and month after an id, those that may be archived.
CREATE OR REPLACE FUNCTION archivable_ids(
  partner uuid, in_mode mode, month date, after_id uuid, ended_before timestamptz, batch int
) RETURNS uuid[] LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT coalesce(array_agg(p.id), '{}') FROM archivable_payments p
           WHERE p.partner_id = partner AND p.mode = in_mode AND p.settled_at < ended_before
             AND p.id = ANY (ARRAY(SELECT s.id FROM payments s
                                    WHERE s.partner_id = partner AND s.mode = in_mode AND s.id > after_id
                                      AND s.id >= archive_first_id(month)
                                      AND s.id < archive_first_id((month + interval '1 month')::date)
                                    ORDER BY s.id LIMIT batch)));
END $$;
