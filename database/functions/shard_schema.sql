-- Where the tables of a shard are.
CREATE OR REPLACE FUNCTION shard_schema(shard int) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE shard WHEN 0 THEN 'public' ELSE 'shard_' || shard END;
