-- Makes a table append-only: rows are added, never changed, never removed.
-- Triggers: audit, audit_chain, rates, rate_rules; entries and events (they may leave for the archive); test_checkpoints (they
-- may move forward); TRUNCATE of all of these and of the archive.
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: its rows are only ever added', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
