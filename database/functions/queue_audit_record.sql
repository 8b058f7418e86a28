-- A record of the audit log waits for its place in the chain (src/db/audit-chain.ts).
-- Triggers: audit.
CREATE OR REPLACE FUNCTION queue_audit_record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_unchained (audit_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
