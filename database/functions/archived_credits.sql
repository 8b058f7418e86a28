-- Archived entries of an account that have a reference.
CREATE OR REPLACE FUNCTION archived_credits(partner uuid, in_mode mode) RETURNS SETOF entries
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT a.* FROM entries_archive a
                WHERE a.partner_id = partner AND a.mode = in_mode AND a.reference IS NOT NULL;
END $$;
