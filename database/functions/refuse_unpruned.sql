-- Keeps the archive append-only. Only test rows leave it, each at or below the checkpoint of its account.
-- Triggers: all tables of the archive. Their argument says what the rows are.
CREATE OR REPLACE FUNCTION refuse_unpruned() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  is_pruned boolean := false;
BEGIN
  IF TG_OP = 'DELETE' AND OLD.mode = 'test' THEN
    CASE TG_ARGV[0]
      WHEN 'payments' THEN is_pruned := is_pruned_payment(OLD.partner_id, OLD.id);
      WHEN 'events', 'keys' THEN is_pruned := is_pruned_payment(OLD.partner_id, OLD.payment_id);
      WHEN 'entries' THEN is_pruned := is_pruned_entry(OLD.partner_id, OLD.entry_no);
      WHEN 'references' THEN
        is_pruned := EXISTS (SELECT FROM entries_archive e
                              WHERE e.partner_id = OLD.partner_id AND e.mode = 'test' AND e.payment_id IS NULL
                                AND e.reference = OLD.reference AND is_pruned_entry(e.partner_id, e.entry_no));
    END CASE;
  END IF;
  IF NOT is_pruned THEN
    RAISE EXCEPTION '% of % is refused: its rows are only ever added', TG_OP, TG_TABLE_NAME
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN OLD;
END $$;
