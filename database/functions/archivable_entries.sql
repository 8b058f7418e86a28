-- The number up to which the entries of an account may be archived: those before the moment, and none from the hold of an
-- unfinished payment on.
CREATE OR REPLACE FUNCTION archivable_entries(partner uuid, in_mode mode, moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN least(ledger_entries_before(partner, in_mode, moment), entries_before_holds(partner, in_mode));
END $$;
