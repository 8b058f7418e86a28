-- Moves the oldest live entries of an account to the archive, up to a number: at most `batch`, of one month. Copy and
-- deletion are one transaction; triggers verify the copy. On Citus the caller has copied them before (archive_copy_entries), and
-- from the first one without a copy on they stay. As with payments, it needs no lock of the account.
--
-- It has the rights of the schema's owner, as archive_payments has. Whatever its caller says, the holds of unfinished
-- payments stay.
CREATE OR REPLACE FUNCTION archive_entries(partner uuid, in_mode mode, month date, up_to bigint, batch int)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET TimeZone = 'UTC' AS $$
DECLARE
  numbers CONSTANT bigint[] := archivable_numbers(partner, in_mode, month, up_to, batch);
  last_no bigint;
  moved bigint;
  moved_digest numeric;
BEGIN
  PERFORM require_month(month);
  IF in_mode = 'test' THEN PERFORM wait_for_test_pruning(); END IF;
  IF archive_is_distributed() THEN
    SELECT max(n.entry_no) INTO last_no
      FROM (SELECT u.entry_no, bool_and(a.entry_no IS NOT NULL) OVER (ORDER BY u.entry_no) AS is_copied
              FROM unnest(numbers) AS u (entry_no)
              LEFT JOIN archived_entries(partner, in_mode, numbers, month, (month + interval '1 month')::timestamptz) a
                     ON a.entry_no = u.entry_no) AS n
     WHERE n.is_copied;
  ELSE
    PERFORM archive_copy_entries(partner, in_mode, month, numbers);
    last_no := numbers[cardinality(numbers)];
  END IF;

  INSERT INTO archived_references (reference, partner_id, mode, micro_usdt)
    SELECT e.reference, e.partner_id, e.mode, e.micro_usdt FROM entries e
     WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= last_no AND e.reference IS NOT NULL;
  SELECT count(*), sum(archive_digest(to_jsonb(e))) INTO moved, moved_digest
    FROM entries e WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= last_no;

  DELETE FROM entries e WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= last_no;
  INSERT INTO archive_sums AS s (partner_id, mode, month, kind, rows, digest)
    SELECT partner, in_mode, archive_entries.month, 'entries', moved, moved_digest WHERE moved > 0
    ON CONFLICT ON CONSTRAINT archive_sums_pkey
      DO UPDATE SET rows = s.rows + excluded.rows, digest = s.digest + excluded.digest;
  RETURN moved;
END $$;
REVOKE EXECUTE ON FUNCTION archive_entries FROM PUBLIC;
