-- Moves the oldest live entries of an account to the archive, up to a number: at most `batch`, of one month. Copy and
-- deletion are one transaction; triggers verify the copy. As with payments, it needs no lock of the account.
--
-- It has the rights of the schema's owner, as archive_payments has. Whatever its caller says, the holds of unfinished
-- payments stay.
CREATE OR REPLACE FUNCTION archive_entries(partner uuid, in_mode mode, month date, up_to bigint, batch int)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET TimeZone = 'UTC' AS $$
DECLARE
  movable CONSTANT bigint := least(up_to, entries_before_holds(partner, in_mode));
  last_no bigint;
  moved bigint;
  moved_digest numeric;
BEGIN
  PERFORM require_month(month);
  IF in_mode = 'test' THEN PERFORM wait_for_test_pruning(); END IF;
  SELECT max(s.entry_no) INTO last_no
    FROM (SELECT e.entry_no, e.created_at FROM entries e
           WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= movable
           ORDER BY e.entry_no LIMIT batch) AS s
   WHERE s.created_at >= month::timestamp AT TIME ZONE 'UTC'
     AND s.created_at < (month + interval '1 month') AT TIME ZONE 'UTC';

  INSERT INTO archived_references (reference, partner_id, mode, micro_usdt)
    SELECT e.reference, e.partner_id, e.mode, e.micro_usdt FROM entries e
     WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= last_no AND e.reference IS NOT NULL;
  WITH copied AS (
    INSERT INTO entries_archive SELECT * FROM entries e
     WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= last_no RETURNING *)
  SELECT count(*), sum(archive_digest(to_jsonb(c))) INTO moved, moved_digest FROM copied c;

  DELETE FROM entries e WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= last_no;
  INSERT INTO archive_sums AS s (partner_id, mode, month, kind, rows, digest)
    SELECT partner, in_mode, archive_entries.month, 'entries', moved, moved_digest WHERE moved > 0
    ON CONFLICT ON CONSTRAINT archive_sums_pkey
      DO UPDATE SET rows = s.rows + excluded.rows, digest = s.digest + excluded.digest;
  RETURN moved;
END $$;
REVOKE EXECUTE ON FUNCTION archive_entries FROM PUBLIC;
