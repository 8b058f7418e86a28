-- The audit log as a chain of hashes: see docs/operations/audit.md.
CREATE TABLE audit_chain (
  place bigint PRIMARY KEY,
  audit_id bigint NOT NULL UNIQUE,
  -- SHA-256 of the hash before and this record.
  hash bytea NOT NULL CHECK (length(hash) = 32)
);
CREATE TRIGGER audit_chain_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_chain
  EXECUTE FUNCTION refuse_change();
ALTER TABLE audit_chain ENABLE ALWAYS TRIGGER audit_chain_is_append_only;

-- Records that have no place yet.
CREATE TABLE audit_unchained (
  audit_id bigint PRIMARY KEY
);
CREATE FUNCTION queue_audit_record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_unchained (audit_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
CREATE TRIGGER audit_records_are_chained AFTER INSERT ON audit FOR EACH ROW EXECUTE FUNCTION queue_audit_record();
ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_records_are_chained;
INSERT INTO audit_unchained (audit_id) SELECT id FROM audit;

ALTER TABLE service ADD COLUMN audit_head_logged_at timestamptz;
