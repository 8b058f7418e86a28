-- The outcome with which a payment ends in the transaction that opens it: of test mode only. Null: it goes on.
ALTER TYPE payment_opening
  ADD ATTRIBUTE outcome payment_status,
  ADD ATTRIBUTE error_code text;
