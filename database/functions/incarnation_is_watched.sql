-- Whether orders of another history may still arrive at the bank side: payments are accepted, and its list is read on. The watch
-- does not end by the clock alone: a complete list must have begun an hour after the opening.
CREATE OR REPLACE FUNCTION incarnation_is_watched(incarnation incarnations) RETURNS boolean
LANGUAGE sql STABLE
RETURN incarnation.cause <> 'first_start' AND incarnation.opened_at IS NOT NULL
   AND coalesce(incarnation.listed_at < incarnation.opened_at + interval '1 hour', true);
