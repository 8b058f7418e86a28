-- Deletes the oldest test data of a partner: up to `batch` entries from before a moment, and the payments that they end,
-- with events, deliveries and keys. The checkpoint moves over these entries in the same transaction. A payment goes with
-- its end, so it is there with its entries or not at all. Its hold stays until then, however old: an unfinished payment
-- keeps back its own rows, and no others.
--
-- It needs no lock of the account: entries from before the moment do not change, and no entry is added before others. Of
-- the rows that go, others lock deliveries and long_payments: if one is in use it fails with 55P03 instead of waiting, so
-- it is in no deadlock. No row is returned if another process is at work here or archives test data.
--
-- It has the rights of the schema's owner: the role of the service may not delete from these tables (src/db/roles/roles.ts).
CREATE OR REPLACE FUNCTION prune_test_data(partner uuid, before timestamptz, batch int)
RETURNS TABLE (payments bigint, entries bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET TimeZone = 'UTC' AS $$
DECLARE
  booked_before bigint;
  above bigint;
  up_to bigint;
  ended uuid[];    -- payments that go
  event_ids bigint[];
  sent_ids bigint[]; -- of events and refunds that may wait for an endpoint
BEGIN
  IF NOT pg_try_advisory_xact_lock(7310861003) THEN RETURN; END IF;
  booked_before := ledger_entries_before(partner, 'test', before);
  SELECT coalesce(max(c.entry_no), 0) INTO above FROM test_checkpoints c WHERE c.partner_id = partner;
  -- Numbers may have gaps (entry_gaps), so the entries are counted.
  SELECT max(s.entry_no), count(*) INTO up_to, entries
    FROM entries_between(partner, 'test', above, booked_before, false, batch) AS s;
  payments := 0;
  IF entries > 0 THEN
    ended := ARRAY(SELECT e.payment_id FROM entries_between(partner, 'test', above, up_to, false, NULL) e
                    WHERE e.from_account = 'held');
    event_ids := ARRAY(SELECT e.id FROM events e
                        WHERE e.partner_id = partner AND e.mode = 'test' AND e.payment_id = ANY (ended)
                       UNION SELECT a.id FROM archived_events(partner, 'test', ended) a);
    sent_ids := event_ids || ARRAY(SELECT r.event_id FROM refunds r
                                    WHERE r.partner_id = partner AND r.mode = 'test' AND r.payment_id = ANY (ended));
    payments := cardinality(ended);
    PERFORM FROM deliveries d WHERE d.partner_id = partner AND d.event_id = ANY (sent_ids) FOR UPDATE NOWAIT;
    PERFORM FROM long_payments l WHERE l.partner_id = partner AND l.mode = 'test' AND l.payment_id = ANY (ended)
        FOR UPDATE NOWAIT;
    UPDATE test_checkpoints c
       SET entry_no = up_to, last_event_id = greatest(c.last_event_id, (SELECT max(i) FROM unnest(event_ids) i))
     WHERE c.partner_id = partner;
    IF NOT FOUND THEN
      INSERT INTO test_checkpoints (partner_id, entry_no, last_event_id)
        SELECT partner, up_to, max(i) FROM unnest(event_ids) i;
    END IF;

    DELETE FROM deliveries d WHERE d.partner_id = partner AND d.event_id = ANY (sent_ids);
    DELETE FROM long_payments l WHERE l.partner_id = partner AND l.mode = 'test' AND l.payment_id = ANY (ended);
    DELETE FROM events e WHERE e.partner_id = partner AND e.mode = 'test' AND e.payment_id = ANY (ended);
    DELETE FROM payments p WHERE p.partner_id = partner AND p.mode = 'test' AND p.id = ANY (ended);
    PERFORM prune_archived_test_data(partner, up_to, ended);
    DELETE FROM entries e WHERE e.partner_id = partner AND e.mode = 'test' AND e.entry_no <= up_to
       AND (e.payment_id IS NULL OR e.payment_id = ANY (ended));
  END IF;
  RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION prune_test_data FROM PUBLIC;
