-- The first name of a recipient, in lower case, from one name on and below another; without the first one itself unless it is wanted.
-- For a loose index scan: from one name to the next instead of over all payments of each.
CREATE OR REPLACE FUNCTION next_recipient(from_name text, with_first boolean, below text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
  live text;
  archived text;
BEGIN
  IF with_first THEN
    SELECT lower(p.recipient) COLLATE "C" INTO live FROM payments p
     WHERE (lower(p.recipient) COLLATE "C") >= from_name AND (lower(p.recipient) COLLATE "C") < below AND NOT p.rejected
     ORDER BY 1 LIMIT 1;
    SELECT lower(p.recipient) COLLATE "C" INTO archived FROM payments_archive p
     WHERE (lower(p.recipient) COLLATE "C") >= from_name AND (lower(p.recipient) COLLATE "C") < below AND NOT p.rejected
     ORDER BY 1 LIMIT 1;
  ELSE
    SELECT lower(p.recipient) COLLATE "C" INTO live FROM payments p
     WHERE (lower(p.recipient) COLLATE "C") > from_name AND (lower(p.recipient) COLLATE "C") < below AND NOT p.rejected
     ORDER BY 1 LIMIT 1;
    SELECT lower(p.recipient) COLLATE "C" INTO archived FROM payments_archive p
     WHERE (lower(p.recipient) COLLATE "C") > from_name AND (lower(p.recipient) COLLATE "C") < below AND NOT p.rejected
     ORDER BY 1 LIMIT 1;
  END IF;
  RETURN least(live COLLATE "C", archived COLLATE "C");
END $$;
