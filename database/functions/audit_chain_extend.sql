-- Gives up to 1000 records of the audit log that have none yet a place in the chain, in the order of their ids, and says whether there
-- may be more. It has the rights of the schema's owner: the role of the service cannot write the chain or empty the queue.
--
-- The lock lets one process extend the chain at a time. Unlike an advisory lock, no role that only reads the table can take it.
CREATE OR REPLACE FUNCTION audit_chain_extend() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  page CONSTANT int := 1000;
  last_place bigint;
  last_hash bytea;
  next record;
  added int := 0;
BEGIN
  -- Most rounds find nothing, and VACUUM would wait for the lock, and every round for VACUUM.
  IF NOT EXISTS (SELECT FROM audit_unchained u WHERE NOT EXISTS (SELECT FROM audit_chain c WHERE c.audit_id = u.audit_id)) THEN
    RETURN false;
  END IF;
  LOCK TABLE audit_chain IN SHARE ROW EXCLUSIVE MODE;
  SELECT c.place, c.hash INTO last_place, last_hash FROM audit_chain c ORDER BY c.place DESC LIMIT 1;
  last_place := coalesce(last_place, 0);
  last_hash := coalesce(last_hash, decode(repeat('00', 32), 'hex'));
  FOR next IN
    SELECT a.id, audit_record(a) AS text FROM audit_unchained u JOIN audit a ON a.id = u.audit_id
     -- A record that is queued a second time must not stop the chain.
     WHERE NOT EXISTS (SELECT FROM audit_chain c WHERE c.audit_id = u.audit_id)
     ORDER BY u.audit_id LIMIT page
  LOOP
    last_place := last_place + 1;
    last_hash := sha256(convert_to(encode(last_hash, 'hex') || E'\n' || next.text, 'UTF8'));
    INSERT INTO audit_chain (place, audit_id, hash) VALUES (last_place, next.id, last_hash);
    DELETE FROM audit_unchained u WHERE u.audit_id = next.id;
    added := added + 1;
  END LOOP;
  RETURN added = page;
END $$;
REVOKE EXECUTE ON FUNCTION audit_chain_extend FROM PUBLIC;
