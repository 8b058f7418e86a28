-- The number up to which the entries of an account may be archived: those before the moment, and none from the hold of an
-- unfinished payment on, which its settle or release must find.
CREATE OR REPLACE FUNCTION archivable_entries(partner uuid, in_mode mode, moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  before CONSTANT bigint := ledger_entries_before(partner, in_mode, moment);
BEGIN
  RETURN least(
    before,
    (SELECT min(e.entry_no) - 1 FROM open_payments o
       JOIN entries e ON e.payment_id = o.payment_id AND e.from_account = 'available'
        AND e.partner_id = o.partner_id AND e.mode = o.mode
      WHERE o.partner_id = partner AND o.mode = in_mode));
END $$;
