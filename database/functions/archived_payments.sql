-- Archived payments of an account by their ids. A function, as all reads of the archive that are part of a larger statement:
-- on Citus such a table cannot be joined with a local one, and the function's own statement goes to one worker.
CREATE OR REPLACE FUNCTION archived_payments(partner uuid, in_mode mode, ids uuid[]) RETURNS SETOF payments
LANGUAGE plpgsql STABLE AS $$
DECLARE
  -- For the planner, which leaves out other months only by a range.
  first_id CONSTANT uuid := (SELECT i FROM unnest(ids) i ORDER BY i LIMIT 1);
  last_id CONSTANT uuid := (SELECT i FROM unnest(ids) i ORDER BY i DESC LIMIT 1);
BEGIN
  RETURN QUERY SELECT a.* FROM payments_archive a
                WHERE a.partner_id = partner AND a.mode = in_mode AND a.id = ANY (ids) AND a.id >= first_id AND a.id <= last_id;
END $$;
