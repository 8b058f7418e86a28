-- Our payments against the orders of the bank side.

CREATE TABLE reconciliations (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  actor text NOT NULL,
  -- Payments created from the one time on and before the other.
  from_at timestamptz NOT NULL,
  until_at timestamptz NOT NULL,
  started_at timestamptz NOT NULL,
  finished_at timestamptz,
  orders bigint,
  payments bigint,
  differences jsonb
);

-- What the bank side listed, kept only while a run compares it. A crash may empty it: the run is gone then as well.
CREATE UNLOGGED TABLE listed_orders (
  run_id bigint NOT NULL,
  order_id text NOT NULL,
  -- As listed, and as a payment of ours if it can be one.
  payment text NOT NULL,
  payment_id uuid,
  state text NOT NULL,
  amount_kopecks bigint NOT NULL,
  PRIMARY KEY (run_id, order_id, payment)
);

-- The last run that was started by itself.
ALTER TABLE service ADD COLUMN reconciled_at timestamptz;
