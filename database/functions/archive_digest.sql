-- The digest of one archived row; those of a month are added up. A column that is null counts for nothing, so a column
-- that is added later does not change the digests of old rows. Times are written in the time zone of the session: UTC.
CREATE OR REPLACE FUNCTION archive_digest(archived jsonb) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT ('x' || left(md5(jsonb_strip_nulls(archived)::text), 15))::bit(60)::bigint
$$;
