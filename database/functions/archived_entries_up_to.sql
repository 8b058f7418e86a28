-- Archived entries of an account up to a number, of test accounts those that are not pruned.
CREATE OR REPLACE FUNCTION archived_entries_up_to(partner uuid, in_mode mode, up_to bigint) RETURNS SETOF entries
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT a.* FROM entries_archive a
                WHERE a.partner_id = partner AND a.mode = in_mode AND a.entry_no <= up_to;
END $$;
