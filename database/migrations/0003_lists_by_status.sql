-- A page of one status. Only failures change error_code, so only they pay for the first index: a payment that succeeds
-- is still updated in place (HOT), which an index with the status would prevent.
CREATE INDEX payments_failed ON payments (partner_id, mode, id) WHERE error_code IS NOT NULL AND NOT rejected;
DROP INDEX open_payments_by_partner;
CREATE INDEX open_payments_by_partner ON open_payments (partner_id, mode, payment_id);
