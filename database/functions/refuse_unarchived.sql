-- Verifies a move to the archive, in the transaction of the move: a row leaves a live table only if an identical row is in
-- the archive, and what must be known forever with it: the idempotency key of a payment, the reference of a credit.
-- Without a copy, only pruned test rows leave: those at or below the checkpoint of their account (prune_test_data). The holds
-- that were open at the checkpoint stay.
-- The archive is read by functions, once for each account: on Citus the rows that go cannot be joined with its tables.
-- Triggers: payments, events, entries.
CREATE OR REPLACE FUNCTION refuse_unarchived() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  missing bigint;
  lost uuid;
BEGIN
  CASE TG_TABLE_NAME
    WHEN 'payments' THEN
      WITH copies AS MATERIALIZED (
        SELECT c FROM (SELECT g.partner_id, g.mode, array_agg(g.id) AS ids FROM gone g GROUP BY 1, 2) AS k,
                      archived_payments(k.partner_id, k.mode, k.ids) AS c)
      SELECT count(*) INTO missing FROM gone g
       WHERE (NOT EXISTS (SELECT FROM copies a
                           WHERE (a.c).partner_id = g.partner_id AND (a.c).mode = g.mode AND (a.c).id = g.id
                             AND NOT a.c IS DISTINCT FROM g)
              OR NOT g.rejected AND NOT EXISTS (SELECT FROM archived_keys k
                                                 WHERE k.idempotency_key = g.idempotency_key
                                                   AND k.partner_id = g.partner_id AND k.mode = g.mode
                                                   AND k.payment_id = g.id))
         AND NOT (g.mode = 'test' AND is_pruned_payment(g.partner_id, g.id));
    WHEN 'events' THEN
      WITH copies AS MATERIALIZED (
        SELECT c FROM (SELECT g.partner_id, g.mode, array_agg(g.payment_id) AS ids FROM gone g GROUP BY 1, 2) AS k,
                      archived_events(k.partner_id, k.mode, k.ids) AS c)
      SELECT count(*) INTO missing FROM gone g
       WHERE NOT EXISTS (SELECT FROM copies a
                          WHERE (a.c).partner_id = g.partner_id AND (a.c).mode = g.mode AND (a.c).id = g.id
                            AND (a.c).payment_id = g.payment_id AND NOT a.c IS DISTINCT FROM g)
         AND NOT (g.mode = 'test' AND is_pruned_payment(g.partner_id, g.payment_id));
    WHEN 'entries' THEN
      WITH copies AS MATERIALIZED (
        SELECT c FROM (SELECT g.partner_id, g.mode, array_agg(g.entry_no) AS numbers, min(g.created_at) AS first_at,
                             max(g.created_at) AS last_at FROM gone g GROUP BY 1, 2) AS k,
                      archived_entries(k.partner_id, k.mode, k.numbers, k.first_at, k.last_at) AS c)
      SELECT count(*) INTO missing FROM gone g
       WHERE (NOT EXISTS (SELECT FROM copies a
                           WHERE (a.c).partner_id = g.partner_id AND (a.c).mode = g.mode AND (a.c).entry_no = g.entry_no
                             AND (a.c).created_at = g.created_at AND NOT a.c IS DISTINCT FROM g)
              OR g.reference IS NOT NULL AND NOT EXISTS (SELECT FROM archived_references r
                                                          WHERE r.reference = g.reference
                                                            AND r.partner_id = g.partner_id AND r.mode = g.mode
                                                            AND r.micro_usdt = g.micro_usdt))
         AND NOT (g.mode = 'test' AND is_pruned_entry(g.partner_id, g.entry_no));
      SELECT c.partner_id INTO lost FROM test_checkpoints c
       WHERE c.partner_id IN (SELECT g.partner_id FROM gone g WHERE g.mode = 'test')
         AND c.held <> (SELECT coalesce(sum(e.micro_usdt), 0)
                          FROM entries_between(c.partner_id, 'test', 0, c.entry_no, false, NULL) e
                         WHERE e.from_account = 'available');
      IF FOUND THEN
        RAISE EXCEPTION 'DELETE of entries is refused: holds that were open at the checkpoint of partner % stay', lost
          USING ERRCODE = 'integrity_constraint_violation';
      END IF;
  END CASE;
  IF missing > 0 THEN
    RAISE EXCEPTION 'DELETE of % is refused: % rows are not in the archive', TG_TABLE_NAME, missing
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
