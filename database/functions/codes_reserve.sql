-- Reserves QR codes for live payments that are about to be opened, each for its partner: one partner holds a code at a time, for
-- any number of its payments. Repeating it changes nothing. Codes are locked in their order.
CREATE OR REPLACE FUNCTION codes_reserve(codes text[], partner_ids uuid[], payment_ids uuid[])
RETURNS TABLE (item bigint, reserved boolean)
LANGUAGE plpgsql AS $$
DECLARE
  next record;
BEGIN
  FOR next IN
    SELECT * FROM unnest(codes, partner_ids, payment_ids) WITH ORDINALITY AS c (code, partner_id, payment_id, nth)
     ORDER BY c.code COLLATE "C", c.nth
  LOOP
    INSERT INTO code_reservations AS r (qrc_id, partner_id, payment_ids)
      VALUES (next.code, next.partner_id, ARRAY[next.payment_id])
      ON CONFLICT (qrc_id) DO UPDATE
        SET payment_ids = array_append(array_remove(r.payment_ids, next.payment_id), next.payment_id)
        WHERE r.partner_id = next.partner_id;
    item := next.nth;
    reserved := FOUND;
    RETURN NEXT;
  END LOOP;
END $$;
