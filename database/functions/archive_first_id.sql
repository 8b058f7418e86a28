-- No payment of this month or a later one has a smaller id.
CREATE OR REPLACE FUNCTION archive_first_id(month date) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT (lpad(to_hex(extract(epoch FROM month)::bigint * 1000), 12, '0') || repeat('0', 20))::uuid
$$;
