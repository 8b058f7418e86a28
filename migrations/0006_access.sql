-- What the door asks on every request.

-- Processes remember keys and partners while they hear of every change to them.
CREATE FUNCTION announce_access_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('access_changed', '');
  RETURN NULL;
END $$;
CREATE TRIGGER api_keys_announce AFTER UPDATE OF revoked_at, allowed_addresses OR DELETE ON api_keys
  EXECUTE FUNCTION announce_access_change();
CREATE TRIGGER partners_announce AFTER UPDATE OR DELETE ON partners
  EXECUTE FUNCTION announce_access_change();

-- Token buckets, shared by all processes. Unlogged: after a crash of the database they are full again, no harm done.
CREATE UNLOGGED TABLE rate_buckets (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  kind text NOT NULL,
  tokens double precision NOT NULL,
  filled_at timestamptz NOT NULL,
  PRIMARY KEY (partner_id, mode, kind)
) WITH (fillfactor = 50);

-- Takes up to `wanted` tokens from a bucket that fills at `per_second` up to `burst`; none when there is less than one.
CREATE FUNCTION take_tokens(
  partner uuid, in_mode mode, of_kind text, per_second double precision, burst double precision, wanted int, at timestamptz
) RETURNS TABLE (granted int, retry_after_sec double precision)
LANGUAGE plpgsql AS $$
DECLARE
  bucket rate_buckets;
BEGIN
  INSERT INTO rate_buckets VALUES (partner, in_mode, of_kind, burst, at) ON CONFLICT DO NOTHING;
  SELECT * INTO bucket FROM rate_buckets b
   WHERE b.partner_id = partner AND b.mode = in_mode AND b.kind = of_kind FOR UPDATE;
  -- A clock that is behind another process's neither fills nor empties the bucket.
  bucket.tokens := least(burst, bucket.tokens + per_second * greatest(0, extract(epoch FROM at - bucket.filled_at)));
  granted := least(wanted, floor(bucket.tokens)::int);
  retry_after_sec := CASE WHEN granted > 0 THEN 0 ELSE (1 - bucket.tokens) / per_second END;
  UPDATE rate_buckets b SET tokens = bucket.tokens - granted, filled_at = greatest(b.filled_at, at)
   WHERE b.partner_id = partner AND b.mode = in_mode AND b.kind = of_kind;
  RETURN NEXT;
END $$;
