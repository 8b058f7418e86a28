-- How a notice names an endpoint: the first is the webhook of its partner, and needs no name.
CREATE OR REPLACE FUNCTION endpoint_in_notice(w endpoints) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN w.is_first THEN '{}'::jsonb ELSE jsonb_build_object('url', w.url) END;
$$;
