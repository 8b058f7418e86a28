-- Entries that are posted late with a time before `day_end` are booked at it. From sessions of any shard, and of all shards.
CREATE OR REPLACE FUNCTION ledger_close_day(in_partner_id uuid, in_mode mode, day_end timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE %I.accounts SET last_entry_at = $3 WHERE partner_id = $1 AND mode = $2 AND last_entry_at < $3',
                 (SELECT shard_schema(p.shard) FROM partners p WHERE p.id = in_partner_id))
    USING in_partner_id, in_mode, day_end;
END $$;
