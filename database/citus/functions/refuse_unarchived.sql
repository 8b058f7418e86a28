-- The form of functions/refuse_unarchived.sql for a shard on Citus, with the same rules: see there. The rows that go cannot be read
-- together with another table, and the name of the table is that of its part on the node, such as payments_102035. Functions
-- that read tables are called for what is not in the archive, apart from statements that read tables.
CREATE OR REPLACE FUNCTION refuse_unarchived() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  of_table CONSTANT text := regexp_replace(TG_TABLE_NAME, '_[0-9]+$', '');
  gone_rows jsonb;
  missing_rows jsonb;
  missing bigint;
  tested uuid[];
  lost uuid;
BEGIN
  SELECT jsonb_agg(to_jsonb(g)) INTO gone_rows FROM gone g;
  IF gone_rows IS NULL THEN RETURN NULL; END IF;
  CASE of_table
    WHEN 'payments' THEN
      SELECT jsonb_agg(to_jsonb(g)) INTO missing_rows FROM jsonb_populate_recordset(NULL::payments, gone_rows) AS g
       WHERE NOT EXISTS (SELECT FROM payments_archive a
                          WHERE a.partner_id = g.partner_id AND a.mode = g.mode AND a.id = g.id
                            AND NOT a IS DISTINCT FROM g)
          OR NOT g.rejected AND NOT EXISTS (SELECT FROM archived_keys k
                                             WHERE k.idempotency_key = g.idempotency_key
                                               AND k.partner_id = g.partner_id AND k.mode = g.mode
                                               AND k.payment_id = g.id);
      SELECT count(*) INTO missing FROM jsonb_populate_recordset(NULL::payments, missing_rows) AS g
       WHERE NOT (g.mode = 'test' AND is_pruned_payment(g.partner_id, g.id));
    WHEN 'events' THEN
      SELECT jsonb_agg(to_jsonb(g)) INTO missing_rows FROM jsonb_populate_recordset(NULL::events, gone_rows) AS g
       WHERE NOT EXISTS (SELECT FROM events_archive a
                          WHERE a.partner_id = g.partner_id AND a.mode = g.mode AND a.id = g.id
                            AND a.payment_id = g.payment_id AND NOT a IS DISTINCT FROM g);
      SELECT count(*) INTO missing FROM jsonb_populate_recordset(NULL::events, missing_rows) AS g
       WHERE NOT (g.mode = 'test' AND is_pruned_payment(g.partner_id, g.payment_id));
    WHEN 'entries' THEN
      SELECT jsonb_agg(to_jsonb(g)) INTO missing_rows FROM jsonb_populate_recordset(NULL::entries, gone_rows) AS g
       WHERE NOT EXISTS (SELECT FROM entries_archive a
                          WHERE a.partner_id = g.partner_id AND a.mode = g.mode AND a.entry_no = g.entry_no
                            AND a.created_at = g.created_at AND NOT a IS DISTINCT FROM g)
          OR g.reference IS NOT NULL AND NOT EXISTS (SELECT FROM archived_references r
                                                      WHERE r.reference = g.reference
                                                        AND r.partner_id = g.partner_id AND r.mode = g.mode
                                                        AND r.micro_usdt = g.micro_usdt);
      SELECT count(*) INTO missing FROM jsonb_populate_recordset(NULL::entries, missing_rows) AS g
       WHERE NOT (g.mode = 'test' AND is_pruned_entry(g.partner_id, g.entry_no));
      tested := ARRAY(SELECT DISTINCT g.partner_id FROM jsonb_populate_recordset(NULL::entries, gone_rows) AS g
                       WHERE g.mode = 'test');
      SELECT c.partner_id INTO lost FROM test_checkpoints c
       WHERE c.partner_id = ANY (tested)
         AND c.held <> (SELECT coalesce(sum(e.micro_usdt), 0) FROM all_entries e WHERE e.partner_id = c.partner_id
                           AND e.mode = 'test' AND e.entry_no <= c.entry_no AND e.from_account = 'available');
      IF FOUND THEN
        RAISE EXCEPTION 'DELETE of entries is refused: holds that were open at the checkpoint of partner % stay', lost
          USING ERRCODE = 'integrity_constraint_violation';
      END IF;
  END CASE;
  IF missing > 0 THEN
    RAISE EXCEPTION 'DELETE of % is refused: % rows are not in the archive', of_table, missing
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
