-- Within which a QR code is paid by one payment at a time: of all partners in live mode (zero), of the partner in test mode. It is
-- inlined, so it costs no call.
CREATE OR REPLACE FUNCTION code_scope(in_mode mode, partner uuid) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE in_mode WHEN 'live' THEN '00000000-0000-0000-0000-000000000000'::uuid ELSE partner END;
$$;
