-- The last entries of an account that brought money from `topup` and from `treasury`, with a number above one and up to another. They
-- belong to no payment, and have an index. Live entries have greater numbers than archived ones.
CREATE OR REPLACE FUNCTION last_outside_entries(partner uuid, in_mode mode, above bigint, up_to bigint) RETURNS SETOF entries
LANGUAGE plpgsql STABLE ROWS 2 AS $$
DECLARE
  source account;
  missing account[] := '{}';
BEGIN
  FOREACH source IN ARRAY '{topup,treasury}'::account[] LOOP
    RETURN QUERY SELECT e.* FROM entries e
                  WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= up_to AND e.entry_no > above
                    AND e.from_account = source AND e.payment_id IS NULL
                  ORDER BY e.entry_no DESC LIMIT 1;
    IF NOT FOUND THEN missing := missing || source; END IF;
  END LOOP;
  IF cardinality(missing) = 0
     OR NOT EXISTS (SELECT FROM archive_sums s WHERE s.partner_id = partner AND s.mode = in_mode AND s.kind = 'entries') THEN
    RETURN;
  END IF;
  RETURN QUERY SELECT DISTINCT ON (a.from_account) a.* FROM entries_archive a
                WHERE a.partner_id = partner AND a.mode = in_mode AND a.entry_no <= up_to AND a.entry_no > above
                  AND a.from_account = ANY (missing) AND a.payment_id IS NULL
                ORDER BY a.from_account, a.entry_no DESC;
END $$;
