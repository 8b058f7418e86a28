-- Keeps the archive append-only. Only test rows leave it, each at or below the checkpoint of its account.
-- On Citus the trigger runs on the worker that has the row, and checkpoints are not there: of test rows only prune_test_data, on
-- the coordinator, knows which ones may go. `kopeck ledger verify` finds others that are missing.
-- Triggers: all tables of the archive. Their argument says what the rows are.
CREATE OR REPLACE FUNCTION refuse_unpruned() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  is_pruned boolean := false;
BEGIN
  IF TG_OP = 'DELETE' AND OLD.mode = 'test' AND to_regclass('test_checkpoints') IS NULL THEN
    is_pruned := true;
  ELSIF TG_OP = 'DELETE' AND OLD.mode = 'test' THEN
    CASE TG_ARGV[0]
      WHEN 'payments' THEN is_pruned := is_pruned_payment(OLD.partner_id, OLD.id);
      WHEN 'events', 'keys' THEN is_pruned := is_pruned_payment(OLD.partner_id, OLD.payment_id);
      WHEN 'entries' THEN is_pruned := is_pruned_entry(OLD.partner_id, OLD.entry_no);
      WHEN 'references' THEN
        is_pruned := EXISTS (SELECT FROM test_checkpoints c,
                                         entries_between(c.partner_id, 'test', 0, c.entry_no, false, NULL) e
                              WHERE c.partner_id = OLD.partner_id AND e.payment_id IS NULL AND e.reference = OLD.reference);
    END CASE;
  END IF;
  IF NOT is_pruned THEN
    RAISE EXCEPTION '% of % is refused: its rows are only ever added', TG_OP, TG_TABLE_NAME
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN OLD;
END $$;
