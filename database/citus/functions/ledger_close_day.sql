-- The form of functions/ledger_close_day.sql for a shard on Citus: called there, it is about an account of this shard.
CREATE OR REPLACE FUNCTION ledger_close_day(in_partner_id uuid, in_mode mode, day_end timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE accounts SET last_entry_at = day_end
   WHERE partner_id = in_partner_id AND mode = in_mode AND last_entry_at < day_end;
END $$;
