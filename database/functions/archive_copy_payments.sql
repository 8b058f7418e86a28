-- Copies payments of one account to the archive, with their events, those that are not there yet. On Citus it is a transaction
-- of its own before archive_payments: the coordinator commits before its workers, so a row that is copied and deleted in one
-- transaction would for a moment be in neither place.
--
-- It has the rights of the schema's owner, as archive_payments has. Whatever its caller says, only payments that may be archived are
-- copied.
CREATE OR REPLACE FUNCTION archive_copy_payments(partner uuid, in_mode mode, ids uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  new_ids CONSTANT uuid[] := ARRAY(SELECT p.id FROM archivable_payments p
                                    WHERE p.partner_id = partner AND p.mode = in_mode AND p.id = ANY (ids)
                                   EXCEPT SELECT a.id FROM archived_payments(partner, in_mode, ids) a);
BEGIN
  IF cardinality(new_ids) = 0 THEN RETURN; END IF;
  INSERT INTO payments_archive SELECT * FROM payments p
   WHERE p.partner_id = partner AND p.mode = in_mode AND p.id = ANY (new_ids);
  INSERT INTO events_archive SELECT * FROM events e
   WHERE e.partner_id = partner AND e.mode = in_mode AND e.payment_id = ANY (new_ids);
END $$;
REVOKE EXECUTE ON FUNCTION archive_copy_payments FROM PUBLIC;
