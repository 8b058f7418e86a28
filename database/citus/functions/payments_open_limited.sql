-- The form of functions/payments_open_limited.sql for a shard on Citus, with the same rules: see there, and payments_open.sql here.
-- What the keys of a partner have spent is in its shard.
CREATE OR REPLACE FUNCTION payments_open_limited(
  openings payment_opening[], keys text[], limits bigint[], at timestamptz, test_payments_per_day int
) RETURNS TABLE (item bigint, verdict text, payment_id uuid, balance bigint)
LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_hashjoin = off SET enable_mergejoin = off SET cpu_index_tuple_cost = 10
AS $$
DECLARE
  live_scope CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  today CONSTANT date := at AT TIME ZONE 'UTC';
  next record;
  spent bigint;
  ended uuid[];
  failed_days date[];
  failed_kopecks bigint[];
BEGIN
  PERFORM FROM (SELECT DISTINCT o.partner_id, o.mode FROM unnest(openings) o ORDER BY 1, 2) AS k,
       LATERAL (SELECT FROM accounts a WHERE a.partner_id = k.partner_id AND a.mode = k.mode FOR UPDATE) AS a;

  FOR next IN
    SELECT DISTINCT k.key_id, o.partner_id, o.mode
      FROM unnest(keys) WITH ORDINALITY AS k (key_id, nth)
      JOIN unnest(openings) WITH ORDINALITY AS o ON o.ordinality = k.nth ORDER BY 1
  LOOP
    DELETE FROM key_unsettled u WHERE u.key_id = next.key_id AND u.day < today - 1;
    SELECT array_agg(u.payment_id), array_agg(u.day) FILTER (WHERE p.status <> 'succeeded'),
           array_agg(u.kopecks) FILTER (WHERE p.status <> 'succeeded')
      INTO ended, failed_days, failed_kopecks
      FROM key_unsettled u
      JOIN payments p ON p.partner_id = next.partner_id AND p.mode = next.mode AND p.id = u.payment_id
     WHERE u.key_id = next.key_id AND p.status <> 'processing';
    CONTINUE WHEN ended IS NULL;
    DELETE FROM key_unsettled u WHERE u.key_id = next.key_id AND u.payment_id = ANY (ended);
    UPDATE key_turnovers t SET kopecks = t.kopecks - e.kopecks
      FROM (SELECT f.day, sum(f.kopecks)::bigint AS kopecks
              FROM unnest(failed_days, failed_kopecks) AS f (day, kopecks) GROUP BY 1) AS e
     WHERE t.key_id = next.key_id AND t.day = e.day;
  END LOOP;

  FOR next IN
    SELECT o.ordinality AS nth, o.id, o.amount_kopecks, o.outcome, keys[o.ordinality] AS key_id, limits[o.ordinality] AS most
      FROM unnest(openings) WITH ORDINALITY AS o
     ORDER BY CASE o.mode WHEN 'live' THEN live_scope ELSE o.partner_id END, o.qrc_id, o.ordinality
  LOOP
    item := next.nth;
    SELECT t.kopecks INTO spent FROM key_turnovers t WHERE t.key_id = next.key_id AND t.day = today;
    IF coalesce(spent, 0) + next.amount_kopecks <= next.most THEN
      SELECT n.verdict, n.payment_id, n.balance INTO verdict, payment_id, balance
        FROM payments_open(ARRAY[openings[next.nth]], at, test_payments_per_day) AS n;
    ELSE
      BEGIN
        SELECT n.verdict, n.payment_id, n.balance INTO verdict, payment_id, balance
          FROM payments_open(ARRAY[openings[next.nth]], at, test_payments_per_day) AS n;
        IF verdict = 'opened' THEN RAISE EXCEPTION USING ERRCODE = 'KY001'; END IF;
      EXCEPTION WHEN SQLSTATE 'KY001' THEN
        verdict := 'key_daily_limit_exceeded';
        payment_id := NULL;
      END;
    END IF;
    RETURN NEXT;
    CONTINUE WHEN verdict <> 'opened' OR next.outcome IS NOT DISTINCT FROM 'failed';
    INSERT INTO key_turnovers AS t (key_id, day, kopecks) VALUES (next.key_id, today, next.amount_kopecks)
      ON CONFLICT (key_id, day) DO UPDATE SET kopecks = t.kopecks + excluded.kopecks;
    CONTINUE WHEN next.outcome IS NOT NULL;
    INSERT INTO key_unsettled (key_id, payment_id, day, kopecks) VALUES (next.key_id, next.id, today, next.amount_kopecks);
  END LOOP;
END $$;
