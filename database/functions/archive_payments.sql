-- Moves payments of one account and month to the archive, with their events and keys: looks at up to `batch` of them after
-- an id and moves those that may go. Copy and deletion are one transaction; triggers verify the copy. On Citus the caller has
-- copied them before (archive_copy_payments), and those without a copy stay.
--
-- It needs no lock of the account: nothing changes a payment that has ended, and who looks for a key looks in both places
-- with one statement, so it finds the key in exactly one of them. Test payments that are pruned meanwhile are not copied.
--
-- It has the rights of the schema's owner: the role of the service may neither delete payments nor write the archive
-- (src/db/roles/roles.ts). Whatever its caller says, only payments that have ended move, each of them whole and unchanged.
CREATE OR REPLACE FUNCTION archive_payments(
  partner uuid, in_mode mode, month date, after_id uuid, ended_before timestamptz, batch int
) RETURNS TABLE (last_id uuid, payments bigint, events bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET TimeZone = 'UTC' AS $$
DECLARE
  next_month CONSTANT date := month + interval '1 month';
  ids uuid[];
  payments_digest numeric;
  events_digest numeric;
  newest_event bigint;
BEGIN
  PERFORM require_month(month);
  IF in_mode = 'test' THEN PERFORM wait_for_test_pruning(); END IF;
  SELECT max(s.id::text)::uuid INTO last_id
    FROM (SELECT p.id FROM payments p
           WHERE p.partner_id = partner AND p.mode = in_mode AND p.id > after_id
             AND p.id >= archive_first_id(month) AND p.id < archive_first_id(next_month)
           ORDER BY p.id LIMIT batch) AS s;
  ids := archivable_ids(partner, in_mode, month, after_id, ended_before, batch);
  IF archive_is_distributed() THEN
    ids := ARRAY(SELECT a.id FROM archived_payments(partner, in_mode, ids) a);
  ELSE
    PERFORM archive_copy_payments(partner, in_mode, ids);
  END IF;

  INSERT INTO archived_keys (idempotency_key, partner_id, mode, payment_id)
    SELECT p.idempotency_key, p.partner_id, p.mode, p.id FROM payments p
     WHERE p.partner_id = partner AND p.mode = in_mode AND p.id = ANY (ids) AND NOT p.rejected;
  SELECT count(*), sum(archive_digest(to_jsonb(p))) INTO payments, payments_digest
    FROM payments p WHERE p.partner_id = partner AND p.mode = in_mode AND p.id = ANY (ids);
  SELECT count(*), sum(archive_digest(to_jsonb(e))), max(e.id) INTO events, events_digest, newest_event
    FROM events e WHERE e.partner_id = partner AND e.mode = in_mode AND e.payment_id = ANY (ids);

  DELETE FROM events e WHERE e.partner_id = partner AND e.mode = in_mode AND e.payment_id = ANY (ids);
  DELETE FROM payments p WHERE p.partner_id = partner AND p.mode = in_mode AND p.id = ANY (ids);
  INSERT INTO archive_sums AS s (partner_id, mode, month, kind, rows, digest, last_event_id)
    SELECT partner, in_mode, archive_payments.month, n.*
      FROM (VALUES ('payments', payments, payments_digest, NULL), ('events', events, events_digest, newest_event))
           AS n (kind, rows, digest, last_event_id)
     WHERE n.rows > 0
    ON CONFLICT ON CONSTRAINT archive_sums_pkey
      DO UPDATE SET rows = s.rows + excluded.rows, digest = s.digest + excluded.digest,
                    last_event_id = greatest(s.last_event_id, excluded.last_event_id);
  RETURN NEXT;
END $$;
REVOKE EXECUTE ON FUNCTION archive_payments FROM PUBLIC;
