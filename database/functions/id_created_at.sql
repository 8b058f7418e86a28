-- When an id such as pay_01m7ehqr39e00aq7xw60wbe32j was made: its first ten characters are 48 bits of milliseconds (src/base/ids.ts).
CREATE OR REPLACE FUNCTION id_created_at(id text) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT to_timestamp(sum((strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(split_part(id, '_', 2), n, 1)) - 1)
                          * 32::numeric ^ (10 - n)) / 1000)
    FROM generate_series(1, 10) AS n
$$;
