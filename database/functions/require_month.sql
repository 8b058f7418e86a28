-- Refuses a day that does not stand for a month: sums of the archive are by month.
CREATE OR REPLACE FUNCTION require_month(month date) RETURNS void LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF month = date_trunc('month', month) THEN RETURN; END IF;
  RAISE EXCEPTION '% is not the first day of a month', month USING ERRCODE = 'integrity_constraint_violation';
END $$;
