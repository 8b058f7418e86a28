-- The rows of the archive, for archived_payments_between.
CREATE OR REPLACE FUNCTION archive_payments_of(partner uuid, in_mode mode, first_id uuid, beyond_id uuid)
RETURNS SETOF payments LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN QUERY SELECT a.* FROM payments_archive a
                WHERE a.partner_id = partner AND a.mode = in_mode AND a.id >= first_id AND a.id < beyond_id;
END $$;
