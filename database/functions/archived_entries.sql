-- Archived entries of an account by their numbers. Their times say which months have them.
CREATE OR REPLACE FUNCTION archived_entries(
  partner uuid, in_mode mode, numbers bigint[], first_at timestamptz, last_at timestamptz
) RETURNS SETOF entries LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT a.* FROM entries_archive a
                WHERE a.partner_id = partner AND a.mode = in_mode AND a.entry_no = ANY (numbers)
                  AND a.created_at >= first_at AND a.created_at <= last_at;
END $$;
