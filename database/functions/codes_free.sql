-- Takes payments out of the reservations of their codes. Only for payments that have ended, or that can never be opened. A
-- reservation without payments goes. Codes are locked in their order.
CREATE OR REPLACE FUNCTION codes_free(codes text[], payment_ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  next record;
BEGIN
  FOR next IN
    SELECT * FROM unnest(codes, payment_ids) AS c (code, payment_id) ORDER BY c.code COLLATE "C", c.payment_id
  LOOP
    -- A statement of its own, so that the next ones see what another session has left.
    PERFORM FROM code_reservations r WHERE r.qrc_id = next.code FOR UPDATE;
    DELETE FROM code_reservations r WHERE r.qrc_id = next.code AND r.payment_ids <@ ARRAY[next.payment_id];
    UPDATE code_reservations r SET payment_ids = array_remove(r.payment_ids, next.payment_id)
     WHERE r.qrc_id = next.code AND next.payment_id = ANY (r.payment_ids);
  END LOOP;
END $$;
