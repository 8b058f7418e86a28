-- Entries of an account, live and archived, with numbers above one and up to another: at most so many, from one end on; all
-- with null. Who knows that all of them are of a time says so: other months are then not looked at. Entries are archived in order, so all archived ones have smaller numbers than the first live one. On Citus a row
-- is copied in a transaction before the one that deletes it: what is live is not read from the archive.
CREATE OR REPLACE FUNCTION entries_between(
  partner uuid, in_mode mode, above bigint, up_to bigint, newest_first boolean, most bigint,
  first_at timestamptz DEFAULT '-infinity', beyond_at timestamptz DEFAULT 'infinity'
) RETURNS SETOF entries LANGUAGE plpgsql STABLE AS $$
DECLARE
  archived_to CONSTANT bigint := least(up_to, (SELECT min(e.entry_no) - 1 FROM entries e
                                                WHERE e.partner_id = partner AND e.mode = in_mode));
  found_rows bigint := 0;
BEGIN
  IF newest_first THEN
    RETURN QUERY SELECT e.* FROM entries e
                  WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no > above AND e.entry_no <= up_to
                  ORDER BY e.entry_no DESC LIMIT most;
    GET DIAGNOSTICS found_rows = ROW_COUNT;
    IF (found_rows < most) IS NOT FALSE AND archived_to > above THEN
      RETURN QUERY SELECT a.* FROM entries_archive a
                    WHERE a.partner_id = partner AND a.mode = in_mode AND a.entry_no > above AND a.entry_no <= archived_to
                      AND a.created_at >= first_at AND a.created_at < beyond_at
                    ORDER BY a.entry_no DESC LIMIT most - found_rows;
    END IF;
    RETURN;
  END IF;
  IF archived_to > above THEN
    RETURN QUERY SELECT a.* FROM entries_archive a
                  WHERE a.partner_id = partner AND a.mode = in_mode AND a.entry_no > above AND a.entry_no <= archived_to
                      AND a.created_at >= first_at AND a.created_at < beyond_at
                  ORDER BY a.entry_no LIMIT most;
    GET DIAGNOSTICS found_rows = ROW_COUNT;
  END IF;
  IF (found_rows < most) IS NOT FALSE THEN
    RETURN QUERY SELECT e.* FROM entries e
                  WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no > above AND e.entry_no <= up_to
                  ORDER BY e.entry_no LIMIT most - found_rows;
  END IF;
END $$;
