-- Whether a test payment ended at the checkpoint or before it. Asked before its entries go.
CREATE OR REPLACE FUNCTION is_pruned_payment(partner uuid, payment uuid) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM test_checkpoints c
                   JOIN all_entries e ON e.partner_id = c.partner_id AND e.mode = 'test' AND e.entry_no <= c.entry_no
                  WHERE c.partner_id = partner AND e.payment_id = payment AND e.from_account = 'held')
$$;
