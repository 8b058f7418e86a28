-- Old test data is pruned (prune_test_data). The entries of a test account go from the first on, and the checkpoint takes
-- their place: the number of the last one, its time, and the balances after it. There is no mode: a live account has none.
CREATE TABLE test_checkpoints (
  partner_id uuid NOT NULL,
  entry_no bigint NOT NULL,
  at timestamptz NOT NULL,
  topup bigint NOT NULL,
  treasury bigint NOT NULL,
  available bigint NOT NULL,
  held bigint NOT NULL,
  settled bigint NOT NULL,
  last_event_id bigint,
  CONSTRAINT test_checkpoints_pkey PRIMARY KEY (partner_id),
  CONSTRAINT test_checkpoints_partner_id_fkey FOREIGN KEY (partner_id) REFERENCES partners(id),
  CONSTRAINT test_checkpoints_never_below_zero CHECK (available >= 0 AND held >= 0 AND settled >= 0),
  CONSTRAINT test_checkpoints_sum_to_zero CHECK (topup + treasury + available + held + settled = 0)
);
COMMENT ON COLUMN test_checkpoints.last_event_id IS 'the newest pruned event: a reader that has it has missed none';

CREATE FUNCTION prove_checkpoint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER test_checkpoints_are_proven BEFORE INSERT OR UPDATE ON test_checkpoints
  FOR EACH ROW EXECUTE FUNCTION prove_checkpoint();
CREATE TRIGGER test_checkpoints_stay BEFORE DELETE OR TRUNCATE ON test_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE test_checkpoints ENABLE ALWAYS TRIGGER test_checkpoints_are_proven;
ALTER TABLE test_checkpoints ENABLE ALWAYS TRIGGER test_checkpoints_stay;

-- A key leaves with its payment, also when the month of the payment was dropped.
CREATE INDEX archived_keys_of_test_payments ON archived_keys (payment_id) WHERE mode = 'test';

-- The archive stays append-only, but for test rows up to a checkpoint.
CREATE FUNCTION refuse_unpruned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $$;
DROP TRIGGER payments_archive_is_append_only ON payments_archive;
CREATE TRIGGER payments_archive_is_append_only BEFORE UPDATE OR DELETE ON payments_archive
  FOR EACH ROW EXECUTE FUNCTION refuse_unpruned('payments');
DROP TRIGGER events_archive_is_append_only ON events_archive;
CREATE TRIGGER events_archive_is_append_only BEFORE UPDATE OR DELETE ON events_archive
  FOR EACH ROW EXECUTE FUNCTION refuse_unpruned('events');
DROP TRIGGER entries_archive_is_append_only ON entries_archive;
CREATE TRIGGER entries_archive_is_append_only BEFORE UPDATE OR DELETE ON entries_archive
  FOR EACH ROW EXECUTE FUNCTION refuse_unpruned('entries');
DROP TRIGGER archived_keys_are_append_only ON archived_keys;
CREATE TRIGGER archived_keys_are_append_only BEFORE UPDATE OR DELETE ON archived_keys
  FOR EACH ROW EXECUTE FUNCTION refuse_unpruned('keys');
CREATE TRIGGER archived_keys_are_not_truncated BEFORE TRUNCATE ON archived_keys
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
DROP TRIGGER archived_references_are_append_only ON archived_references;
CREATE TRIGGER archived_references_are_append_only BEFORE UPDATE OR DELETE ON archived_references
  FOR EACH ROW EXECUTE FUNCTION refuse_unpruned('references');
CREATE TRIGGER archived_references_are_not_truncated BEFORE TRUNCATE ON archived_references
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE payments_archive ENABLE ALWAYS TRIGGER payments_archive_is_append_only;
ALTER TABLE events_archive ENABLE ALWAYS TRIGGER events_archive_is_append_only;
ALTER TABLE entries_archive ENABLE ALWAYS TRIGGER entries_archive_is_append_only;
ALTER TABLE archived_keys ENABLE ALWAYS TRIGGER archived_keys_are_append_only;
ALTER TABLE archived_keys ENABLE ALWAYS TRIGGER archived_keys_are_not_truncated;
ALTER TABLE archived_references ENABLE ALWAYS TRIGGER archived_references_are_append_only;
ALTER TABLE archived_references ENABLE ALWAYS TRIGGER archived_references_are_not_truncated;
