-- A bitmap scan reads every row that ever stood under a key until the next vacuum, and marks none of them as gone. Rows
-- of these tables come and go with each payment, so that a busy partner would pay for its past: plain index scans pass
-- over what one of them has found to be gone.
ALTER FUNCTION payments_open SET enable_bitmapscan = off;
ALTER FUNCTION payments_finish SET enable_bitmapscan = off;
ALTER FUNCTION ledger_post SET enable_bitmapscan = off;
ALTER FUNCTION deliveries_end SET enable_bitmapscan = off;
