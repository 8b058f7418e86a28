-- The copies, under the names of the originals. Only functions of the shard see them: they are in a schema of their own, and a
-- statement that comes from elsewhere still means the original. None can be written to.
CREATE OR REPLACE VIEW rates AS
  SELECT s.newest_rate AS id FROM shard_state s WHERE s.newest_rate IS NOT NULL OFFSET 0;
CREATE OR REPLACE VIEW service AS
  SELECT s.maintenance FROM shard_state s OFFSET 0;
CREATE OR REPLACE VIEW shards AS
  SELECT generate_series(0, s.shards - 1) AS number FROM shard_state s;
CREATE OR REPLACE VIEW incarnations AS
  SELECT NULL::int AS number, NULL::timestamptz AS began_at, NULL::timestamptz AS opened_at
    FROM shard_state s WHERE s.is_recovering
  UNION ALL SELECT c.incarnation, c.began_at, c.began_at FROM copied_strays c;
CREATE OR REPLACE VIEW maintenance_windows AS
  SELECT w.from_at, w.until_at, NULL::timestamptz AS cancelled_at FROM copied_windows w OFFSET 0;
CREATE OR REPLACE VIEW stray_orders AS
  SELECT c.payment, c.idempotency_key, c.partner_id, c.why, c.incarnation, NULL::timestamptz AS released_at
    FROM copied_strays c OFFSET 0;
CREATE OR REPLACE VIEW blocked_recipients AS
  SELECT c.recipient FROM copied_recipients c UNION ALL SELECT NULL WHERE false;
CREATE OR REPLACE VIEW partners AS
  SELECT c.partner_id AS id, c.concurrent, c.daily_kopecks FROM copied_limits c UNION ALL SELECT NULL, NULL, NULL WHERE false;
