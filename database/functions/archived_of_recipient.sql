-- The newest archived payments of a recipient, by its name in lower case.
CREATE OR REPLACE FUNCTION archived_of_recipient(name text, first_id uuid, beyond_id uuid, most bigint) RETURNS SETOF payments
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT a.* FROM payments_archive a
                WHERE (lower(a.recipient) COLLATE "C") = name AND NOT a.rejected AND a.id >= first_id AND a.id < beyond_id
                ORDER BY a.id DESC LIMIT most;
END $$;
