-- Whether the checkpoint of the partner's test account is at this entry or after it.
CREATE OR REPLACE FUNCTION is_pruned_entry(partner uuid, number bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM test_checkpoints c WHERE c.partner_id = partner AND c.entry_no >= number)
$$;
