-- What integrators need in test mode: a clock of their own, and misfortunes on demand. Nothing here is read or written
-- for a live payment.

-- By how much each partner has moved its test clock, all in all. The waits themselves are moved where they stand.
CREATE TABLE test_clocks (
  partner_id uuid PRIMARY KEY REFERENCES partners (id),
  advanced_sec bigint NOT NULL CHECK (advanced_sec > 0)
);

-- How often a test payment that asked for it was refused, by its key: it has no row of its own yet.
CREATE TABLE test_refusals (
  partner_id uuid NOT NULL,
  idempotency_key text NOT NULL,
  times int NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (partner_id, idempotency_key)
);
CREATE INDEX test_refusals_by_time ON test_refusals USING brin (at);

-- Since when the event of a test payment is held back, so that another goes before it.
ALTER TABLE deliveries ADD COLUMN held_at timestamptz;
CREATE INDEX deliveries_held ON deliveries (partner_id) WHERE held_at IS NOT NULL;
