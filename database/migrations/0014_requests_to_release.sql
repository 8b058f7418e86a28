-- Releasing an order without a payment may need four-eyes approval too.
ALTER TABLE operator_requests DROP CONSTRAINT operator_requests_kind_check,
  ADD CONSTRAINT operator_requests_kind_check CHECK (kind IN ('resolve', 'credit', 'thresholds', 'release'));
