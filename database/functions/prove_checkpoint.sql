-- A checkpoint moves forward only, and its time and balances come from the entries, whatever the caller wrote. Each entry
-- on the way must be there, but for skipped numbers (entry_gaps), and have the right balances: a ledger that is not in
-- order is not pruned, so that `kopeck ledger verify` still finds the fault. No worker with a wrong clock or setting prunes
-- the last seven days.
-- Trigger: test_checkpoints.
CREATE OR REPLACE FUNCTION prove_checkpoint() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  above CONSTANT bigint := coalesce(OLD.entry_no, 0);
  proof record;
BEGIN
  WITH passed AS (
    SELECT * FROM entries_between(NEW.partner_id, 'test', above, NEW.entry_no, false, NULL)
  ), opening (account, total) AS (
    VALUES ('topup'::account, coalesce(OLD.topup, 0)), ('treasury', coalesce(OLD.treasury, 0)),
           ('available', coalesce(OLD.available, 0)), ('held', coalesce(OLD.held, 0)), ('settled', coalesce(OLD.settled, 0))
  ), legs AS (
    SELECT p.entry_no, p.from_account AS account, -p.micro_usdt AS change, p.from_after AS after FROM passed p
    UNION ALL
    SELECT p.entry_no, p.to_account, p.micro_usdt, p.to_after FROM passed p
  ), running AS (
    SELECT l.*, o.total + sum(l.change) OVER (PARTITION BY l.account ORDER BY l.entry_no) AS total
      FROM legs l JOIN opening o USING (account)
  ), closing AS (
    SELECT o.account, (o.total + coalesce(sum(l.change), 0))::bigint AS total
      FROM opening o LEFT JOIN legs l USING (account) GROUP BY o.account, o.total
  )
  SELECT (SELECT count(*) FROM passed) AS entries,
         (SELECT coalesce(sum(g.next_no - g.after_no - 1), 0) FROM entry_gaps g WHERE g.partner_id = NEW.partner_id
             AND g.mode = 'test' AND g.after_no >= above AND g.next_no <= NEW.entry_no) AS skipped,
         (SELECT max(p.created_at) FROM passed p) AS at,
         (SELECT count(*) FROM running r WHERE r.total <> r.after) AS wrong,
         (SELECT jsonb_object_agg(c.account, c.total) FROM closing c) AS balances
    INTO proof;

  IF NEW.entry_no <= above OR OLD.partner_id <> NEW.partner_id THEN
    RAISE EXCEPTION 'a checkpoint moves forward only, not from % to %', above, NEW.entry_no
      USING ERRCODE = 'integrity_constraint_violation';
  ELSIF proof.entries + proof.skipped <> NEW.entry_no - above OR proof.wrong > 0 THEN
    RAISE EXCEPTION 'test entries % to % of partner % are not in order: run kopeck ledger verify',
                    above + 1, NEW.entry_no, NEW.partner_id USING ERRCODE = 'integrity_constraint_violation';
  ELSIF proof.at > clock_timestamp() - interval '7 days' THEN
    RAISE EXCEPTION 'test entry % is not seven days old', NEW.entry_no USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  NEW.at := proof.at;
  RETURN jsonb_populate_record(NEW, proof.balances);
END $$;
