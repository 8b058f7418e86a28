-- Payments that were opened on turnover_day, whatever their outcome: the daily quota of test mode compares with it.
ALTER TABLE accounts ADD COLUMN opened_on_day int NOT NULL DEFAULT 0;

-- It has one argument more now.
DROP FUNCTION IF EXISTS payments_open(payment_opening[], timestamptz);
