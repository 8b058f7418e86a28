-- What SBP calls a payment, for accountants: see docs/internals/reports.md. It is not a column of payments, since it can become
-- known after the payment ended, also after its month was archived, and must never hold back the money of its payment.
CREATE TABLE operation_numbers (
  payment_id uuid PRIMARY KEY,
  operation_number text NOT NULL
);
CREATE TRIGGER operation_numbers_are_append_only BEFORE UPDATE OR DELETE ON operation_numbers
  EXECUTE FUNCTION refuse_change();
CREATE TRIGGER operation_numbers_are_not_truncated BEFORE TRUNCATE ON operation_numbers EXECUTE FUNCTION refuse_change();
ALTER TABLE operation_numbers ENABLE ALWAYS TRIGGER operation_numbers_are_append_only;
ALTER TABLE operation_numbers ENABLE ALWAYS TRIGGER operation_numbers_are_not_truncated;

ALTER TABLE listed_orders ADD COLUMN operation_number text;
