-- The numbers of the oldest live entries of an account, up to a number: at most `batch`, of one month. None from the hold of an
-- unfinished payment on.
CREATE OR REPLACE FUNCTION archivable_numbers(partner uuid, in_mode mode, month date, up_to bigint, batch int) RETURNS bigint[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
  last_movable CONSTANT bigint := least(up_to, entries_before_holds(partner, in_mode));
BEGIN
  RETURN (SELECT coalesce(array_agg(s.entry_no ORDER BY s.entry_no), '{}')
            FROM (SELECT e.entry_no, e.created_at FROM entries e
                   WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= last_movable
                   ORDER BY e.entry_no LIMIT batch) AS s
           WHERE s.created_at >= month::timestamp AT TIME ZONE 'UTC'
             AND s.created_at < (month + interval '1 month') AT TIME ZONE 'UTC');
END $$;
