-- Copies entries of one account and month to the archive, those that are not there yet. On Citus a transaction of its own, as
-- archive_copy_payments.
CREATE OR REPLACE FUNCTION archive_copy_entries(partner uuid, in_mode mode, month date, numbers bigint[]) RETURNS void
LANGUAGE plpgsql SET TimeZone = 'UTC' AS $$
DECLARE
  new_numbers CONSTANT bigint[] := ARRAY(
    SELECT n FROM unnest(numbers) n
    EXCEPT SELECT a.entry_no
             FROM archived_entries(partner, in_mode, numbers, month, (month + interval '1 month')::timestamptz) a);
BEGIN
  IF cardinality(new_numbers) = 0 THEN RETURN; END IF;
  INSERT INTO entries_archive SELECT * FROM entries e
   WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no = ANY (new_numbers);
END $$;
