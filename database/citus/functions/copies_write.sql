-- Brings the shard a version of what stands once. A call that comes late, with an older version, changes nothing. Without
-- `content` it confirms what the shard has; false if that is something else. `read_after` is a moment of this node's clock before
-- the originals were read.
CREATE OR REPLACE FUNCTION copies_write(in_incarnation int, in_version bigint, read_after timestamptz, in_digest text, content jsonb)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  state shard_state;
BEGIN
  SELECT s.* INTO state FROM shard_state s FOR UPDATE;
  IF (state.incarnation, state.version) >= (in_incarnation, in_version) THEN RETURN true; END IF;
  IF state.digest IS DISTINCT FROM in_digest THEN
    IF content IS NULL THEN RETURN false; END IF;
    DELETE FROM copied_windows;
    INSERT INTO copied_windows (from_at, until_at)
      SELECT r.from_at, r.until_at FROM jsonb_to_recordset(content -> 'windows') AS r (from_at timestamptz, until_at timestamptz);
    DELETE FROM copied_recipients;
    INSERT INTO copied_recipients (recipient) SELECT r FROM jsonb_array_elements_text(content -> 'recipients') AS r;
    DELETE FROM copied_limits;
    INSERT INTO copied_limits (partner_id, concurrent, daily_kopecks)
      SELECT r.partner_id, r.concurrent, r.daily_kopecks
        FROM jsonb_to_recordset(content -> 'limits') AS r (partner_id uuid, concurrent int, daily_kopecks bigint);
    DELETE FROM copied_strays;
    INSERT INTO copied_strays (payment, idempotency_key, partner_id, why, incarnation, began_at)
      SELECT r.payment, r.idempotency_key, r.partner_id, r.why, r.incarnation, r.began_at
        FROM jsonb_to_recordset(content -> 'strays') AS r (
             payment text, idempotency_key text, partner_id uuid, why text, incarnation int, began_at timestamptz);
    UPDATE shard_state
       SET digest = in_digest, newest_rate = (content ->> 'rate')::bigint, maintenance = (content ->> 'maintenance')::boolean,
           is_recovering = (content ->> 'is_recovering')::boolean;
  END IF;
  UPDATE shard_state SET incarnation = in_incarnation, version = in_version, confirmed_at = greatest(confirmed_at, read_after);
  RETURN true;
END $$;
