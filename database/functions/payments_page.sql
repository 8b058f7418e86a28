-- At most `most` payments of an account, newest first: with ids from `from_id` on and before `before_id`.
--
-- A function, for its planner settings: the plan is made once per session and suits every account. Only the primary key has the
-- order by all three columns, so without sorts it is the index that is read, from its end.
CREATE OR REPLACE FUNCTION payments_page(of_partner uuid, of_mode mode, from_id uuid, before_id uuid, most int)
RETURNS SETOF payments
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET enable_incremental_sort = off
AS $$
BEGIN
  RETURN QUERY
    SELECT * FROM payments p
     WHERE (p.partner_id, p.mode, p.id) >= (of_partner, of_mode, from_id)
       AND (p.partner_id, p.mode, p.id) < (of_partner, of_mode, before_id) AND NOT p.rejected
     ORDER BY p.partner_id DESC, p.mode DESC, p.id DESC LIMIT most;
END $$;
