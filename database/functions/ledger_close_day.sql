-- Entries that are posted late with a time before `day_end` are booked at it.
CREATE OR REPLACE FUNCTION ledger_close_day(in_partner_id uuid, in_mode mode, day_end timestamptz) RETURNS void
LANGUAGE sql AS $$
  UPDATE accounts SET last_entry_at = day_end
   WHERE partner_id = in_partner_id AND mode = in_mode AND last_entry_at < day_end
$$;
