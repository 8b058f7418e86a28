-- A record of the audit log waits for its place in the chain (audit_chain_extend). With the rights of the schema's owner: the role of the
-- service cannot write the queue.
-- Triggers: audit.
CREATE OR REPLACE FUNCTION queue_audit_record() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_RELID <> 'public.audit'::regclass THEN
    RAISE EXCEPTION '% is not the audit log', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  INSERT INTO audit_unchained (audit_id) VALUES (NEW.id);
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION queue_audit_record FROM PUBLIC;
