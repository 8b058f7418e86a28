-- The month (UTC) of a payment: ids begin with their time, in milliseconds.
CREATE OR REPLACE FUNCTION archive_month_of(payment_id uuid) RETURNS date LANGUAGE sql IMMUTABLE AS $$
  SELECT date_trunc('month', to_timestamp(
           ('x' || replace(left(payment_id::text, 13), '-', ''))::bit(48)::bigint / 1000) AT TIME ZONE 'UTC')::date
$$;
