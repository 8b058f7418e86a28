-- Archived payments of an account with ids from one on and before another, without those that are still live: on Citus a
-- row is copied in a transaction before the one that deletes it.
CREATE OR REPLACE FUNCTION archived_payments_between(partner uuid, in_mode mode, first_id uuid, beyond_id uuid)
RETURNS SETOF payments LANGUAGE plpgsql STABLE AS $$
BEGIN
  -- So that a read of what is not archived does not need the workers.
  IF NOT EXISTS (SELECT FROM archive_sums s WHERE s.partner_id = partner AND s.mode = in_mode AND s.kind = 'payments'
                    AND s.month BETWEEN archive_month_of(first_id) AND archive_month_of(beyond_id)) THEN
    RETURN;
  END IF;
  RETURN QUERY SELECT a.* FROM archive_payments_of(partner, in_mode, first_id, beyond_id) a
                WHERE NOT EXISTS (SELECT FROM payments p
                                   WHERE p.partner_id = partner AND p.mode = in_mode AND p.id = a.id);
END $$;
