-- Posts what has been decided already under the same locks: any other verdict than done is a bug and fails everything.
CREATE OR REPLACE FUNCTION ledger_must_post(
  partner_ids uuid[], modes mode[], operations ledger_operation[], payment_ids uuid[], amounts bigint[], at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  wrong record;
BEGIN
  SELECT r.item, r.verdict INTO wrong
    FROM ledger_post(partner_ids, modes, operations, payment_ids, array_fill(NULL::text, ARRAY[cardinality(modes)]),
                     amounts, at) r
   WHERE r.verdict <> 'done' LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'payment % cannot be posted: %', payment_ids[wrong.item], wrong.verdict
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
END $$;
