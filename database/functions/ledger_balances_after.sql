-- The balances of an account right after an entry that was booked before a moment, from the entries alone: an entry has the
-- balances of its two accounts. The last entries of `available` and `held` are near, those from `topup` and `treasury` have an
-- index, and `settled` follows since the five add up to zero. Without an entry since the checkpoint of a test account, its
-- balance counts.
-- Live entries have greater numbers than archived ones. The archive is mostly asked once, about the last weeks: on Citus
-- each time is a way to a worker and back.
CREATE OR REPLACE FUNCTION ledger_balances_after(
  partner uuid, in_mode mode, up_to bigint, before timestamptz,
  OUT topup bigint, OUT treasury bigint, OUT available bigint, OUT held bigint
) LANGUAGE plpgsql STABLE AS $$
DECLARE
  checkpoint test_checkpoints;
  above bigint := 0;
  since timestamptz;
  balances jsonb;
  near account[];
  outside account[];
BEGIN
  IF in_mode = 'test' THEN
    SELECT * INTO checkpoint FROM test_checkpoints c WHERE c.partner_id = partner;
    above := coalesce(checkpoint.entry_no, 0);
  END IF;
  SELECT coalesce(jsonb_object_agg(l.account, l.balance), '{}') INTO balances FROM (
    SELECT n.account, e.balance FROM unnest('{available,held}'::account[]) AS n (account) CROSS JOIN LATERAL (
      SELECT CASE e.from_account WHEN n.account THEN e.from_after ELSE e.to_after END AS balance FROM entries e
       WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= up_to AND e.entry_no > above
         AND n.account IN (e.from_account, e.to_account)
       ORDER BY e.entry_no DESC LIMIT 1) AS e
    UNION ALL
    SELECT o.account, e.from_after FROM unnest('{topup,treasury}'::account[]) AS o (account) CROSS JOIN LATERAL (
      SELECT e.from_after FROM entries e
       WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= up_to AND e.entry_no > above
         AND e.from_account = o.account AND e.payment_id IS NULL
       ORDER BY e.entry_no DESC LIMIT 1) AS e) AS l;
  outside := ARRAY(SELECT o FROM unnest('{topup,treasury}'::account[]) AS o WHERE NOT balances ? o::text);
  FOREACH since IN ARRAY ARRAY[before - interval '10 days', '-infinity'] LOOP
    near := ARRAY(SELECT n FROM unnest('{available,held}'::account[]) AS n WHERE NOT balances ? n::text);
    EXIT WHEN cardinality(near) + cardinality(outside) = 0
      OR NOT EXISTS (SELECT FROM archive_sums s WHERE s.partner_id = partner AND s.mode = in_mode AND s.kind = 'entries');
    SELECT balances || coalesce(jsonb_object_agg(l.account, l.balance), '{}') INTO balances FROM (
      SELECT n.account, a.balance FROM unnest(near) AS n (account) CROSS JOIN LATERAL (
        SELECT CASE a.from_account WHEN n.account THEN a.from_after ELSE a.to_after END AS balance FROM entries_archive a
         WHERE a.partner_id = partner AND a.mode = in_mode AND a.entry_no <= up_to AND a.entry_no > above
           AND a.created_at >= since AND a.created_at < before AND n.account IN (a.from_account, a.to_account)
         ORDER BY a.entry_no DESC LIMIT 1) AS a
      UNION ALL
      SELECT o.account, a.from_after FROM unnest(outside) AS o (account) CROSS JOIN LATERAL (
        SELECT a.from_after FROM entries_archive a
         WHERE a.partner_id = partner AND a.mode = in_mode AND a.entry_no <= up_to AND a.entry_no > above
           AND a.from_account = o.account AND a.payment_id IS NULL
         ORDER BY a.entry_no DESC LIMIT 1) AS a) AS l;
    outside := '{}';
  END LOOP;
  topup := coalesce((balances ->> 'topup')::bigint, checkpoint.topup, 0);
  treasury := coalesce((balances ->> 'treasury')::bigint, checkpoint.treasury, 0);
  available := coalesce((balances ->> 'available')::bigint, checkpoint.available, 0);
  held := coalesce((balances ->> 'held')::bigint, checkpoint.held, 0);
END $$;
