-- Copies entries of one account and month to the archive, those that are not there yet. On Citus a transaction of its own, as
-- archive_copy_payments; with the same rights, and without those from the hold of an unfinished payment on.
CREATE OR REPLACE FUNCTION archive_copy_entries(partner uuid, in_mode mode, month date, numbers bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET TimeZone = 'UTC' AS $$
DECLARE
  last_movable CONSTANT bigint := entries_before_holds(partner, in_mode);
  new_numbers CONSTANT bigint[] := ARRAY(
    SELECT n FROM unnest(numbers) n WHERE (n <= last_movable) IS NOT FALSE
    EXCEPT SELECT a.entry_no
             FROM archived_entries(partner, in_mode, numbers, month, (month + interval '1 month')::timestamptz) a);
BEGIN
  PERFORM require_month(month);
  IF cardinality(new_numbers) = 0 THEN RETURN; END IF;
  INSERT INTO entries_archive SELECT * FROM entries e
   WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no = ANY (new_numbers);
END $$;
REVOKE EXECUTE ON FUNCTION archive_copy_entries FROM PUBLIC;
