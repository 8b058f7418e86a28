-- What the daily limit compares with: the kopecks of the payments of turnover_day (UTC) that are processing or succeeded.
-- Null: not counted so far; payments_open then adds the day up once. So it does not matter which functions ran before.
ALTER TABLE accounts ADD COLUMN turnover_day date;
ALTER TABLE accounts ADD COLUMN turnover_kopecks bigint NOT NULL DEFAULT 0;
