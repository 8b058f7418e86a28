-- What a key with a daily limit has spent today: the processing and succeeded payments that it opened. The caller has locked the
-- account. Payments end in payments_finish, which knows nothing of keys: what has failed since is taken out here.
-- Keys that were rolled share one sum.
CREATE OR REPLACE FUNCTION key_turnover(key text, partner uuid, in_mode mode, today date) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM key_unsettled u WHERE u.key_id = key AND u.day < today - 1;
  WITH ended AS (
    DELETE FROM key_unsettled u USING payments p
     WHERE u.key_id = key AND p.partner_id = partner AND p.mode = in_mode AND p.id = u.payment_id AND p.status <> 'processing'
    RETURNING u.day, u.kopecks, p.status
  )
  UPDATE key_turnovers t SET kopecks = t.kopecks - e.kopecks
    FROM (SELECT n.day, sum(n.kopecks)::bigint AS kopecks FROM ended n WHERE n.status <> 'succeeded' GROUP BY 1) AS e
   WHERE t.key_id = key AND t.day = e.day;
  RETURN coalesce((SELECT t.kopecks FROM key_turnovers t WHERE t.key_id = key AND t.day = today), 0);
END $$;
