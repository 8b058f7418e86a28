-- Token bucket of a rate limit: takes up to `wanted` tokens from a bucket that fills at `per_second` up to `burst`.
-- Grants none while there is less than one token. In the database and not from a library, since all processes share a
-- partner's limit.
CREATE OR REPLACE FUNCTION take_tokens(
  partner uuid, in_mode mode, of_kind text, per_second double precision, burst double precision, wanted int, at timestamptz
) RETURNS TABLE (granted int, retry_after_sec double precision)
LANGUAGE plpgsql AS $$
DECLARE
  bucket rate_buckets;
BEGIN
  LOOP
    SELECT * INTO bucket FROM rate_buckets b
     WHERE b.partner_id = partner AND b.mode = in_mode AND b.kind = of_kind FOR UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO rate_buckets VALUES (partner, in_mode, of_kind, burst, at) ON CONFLICT DO NOTHING;
  END LOOP;
  -- A process whose clock is behind another's neither fills nor empties the bucket.
  bucket.tokens := least(burst, bucket.tokens + per_second * greatest(0, extract(epoch FROM at - bucket.filled_at)));
  granted := least(wanted, floor(bucket.tokens)::int);
  retry_after_sec := CASE WHEN granted > 0 THEN 0 ELSE (1 - bucket.tokens) / per_second END;
  UPDATE rate_buckets b SET tokens = bucket.tokens - granted, filled_at = greatest(b.filled_at, at)
   WHERE b.partner_id = partner AND b.mode = in_mode AND b.kind = of_kind;
  RETURN NEXT;
END $$;
