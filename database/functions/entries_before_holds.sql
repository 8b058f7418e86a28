-- The number of the last entry before the holds of an account's unfinished payments, which their settle or release must find;
-- null if there are none.
CREATE OR REPLACE FUNCTION entries_before_holds(partner uuid, in_mode mode) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT min(e.entry_no) - 1 FROM open_payments o
            JOIN entries e ON e.payment_id = o.payment_id AND e.from_account = 'available'
             AND e.partner_id = o.partner_id AND e.mode = o.mode
           WHERE o.partner_id = partner AND o.mode = in_mode);
END $$;
