-- Each mode claims its own due payments: a backlog of live ones must not be read to find a test payment.
DROP INDEX open_payments_by_time;
CREATE INDEX open_payments_by_time ON open_payments (mode, next_at);
