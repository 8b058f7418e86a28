-- Whether a test payment ended at the checkpoint or before it. Asked before its entries go.
CREATE OR REPLACE FUNCTION is_pruned_payment(partner uuid, payment uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM test_checkpoints c, entries_of_payment(c.partner_id, 'test', payment) e
                  WHERE c.partner_id = partner AND e.from_account = 'held' AND e.entry_no <= c.entry_no)
$$;
