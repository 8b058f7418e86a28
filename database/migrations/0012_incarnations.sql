-- One row per history of this database: the first start, and every promotion, restore or copy since. The newest one is the
-- current one; while it has no opened_at, no payment is accepted. See docs/internals/lost-history.md.
CREATE TABLE incarnations (
  number int PRIMARY KEY,
  token uuid NOT NULL DEFAULT gen_random_uuid(),
  system_identifier text NOT NULL,
  timeline int NOT NULL,
  place text,
  cause text NOT NULL,
  began_at timestamptz NOT NULL,
  certain_at timestamptz NOT NULL,
  is_synchronous boolean NOT NULL,
  last_event_id bigint NOT NULL,
  next_event_id bigint NOT NULL,
  claimed_by int,
  claimed_until timestamptz,
  listed_orders bigint NOT NULL DEFAULT 0,
  opened_at timestamptz,
  CONSTRAINT incarnations_have_a_known_cause
    CHECK (cause IN ('first_start', 'promotion', 'restore', 'copy')),
  CONSTRAINT incarnations_go_on_after_the_last_event CHECK (next_event_id > last_event_id)
);
CREATE UNIQUE INDEX incarnations_recover_one_at_a_time ON incarnations ((opened_at IS NULL)) WHERE opened_at IS NULL;
COMMENT ON COLUMN incarnations.place IS 'Of the files of the embedded server; NULL for an outside one';
COMMENT ON COLUMN incarnations.is_synchronous IS 'No acknowledged commit can be missing';

-- Entry numbers after_no + 1 to next_no - 1 may have been given out by a history that was lost.
CREATE TABLE entry_gaps (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  after_no bigint NOT NULL,
  next_no bigint NOT NULL,
  incarnation int NOT NULL REFERENCES incarnations,
  PRIMARY KEY (partner_id, mode, after_no),
  FOREIGN KEY (partner_id, mode) REFERENCES accounts,
  CONSTRAINT entry_gaps_go_forward CHECK (next_no > after_no + 1)
);

-- Payments that were rebuilt from the orders of the bank side.
CREATE TABLE recovered_payments (
  payment_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  incarnation int NOT NULL REFERENCES incarnations,
  order_id text NOT NULL,
  order_state text NOT NULL,
  recovered_at timestamptz NOT NULL
);
CREATE INDEX recovered_payments_by_incarnation ON recovered_payments (incarnation, payment_id);

-- Orders of the bank side that have no payment here and could not be rebuilt.
CREATE TABLE stray_orders (
  payment text PRIMARY KEY,
  order_id text NOT NULL,
  state text NOT NULL,
  amount_kopecks bigint NOT NULL,
  created_at timestamptz NOT NULL,
  qrc_id text,
  partner_id uuid,
  idempotency_key text,
  reference text,
  why text NOT NULL,
  incarnation int NOT NULL REFERENCES incarnations,
  found_at timestamptz NOT NULL,
  released_at timestamptz,
  released_by text,
  reason text,
  CONSTRAINT stray_orders_are_released_for_a_reason
    CHECK ((released_at IS NULL) = (released_by IS NULL) AND (released_at IS NULL) = (reason IS NULL))
);
CREATE INDEX stray_orders_by_code ON stray_orders (qrc_id) WHERE released_at IS NULL;
CREATE INDEX stray_orders_by_key ON stray_orders (idempotency_key, partner_id) WHERE released_at IS NULL;
COMMENT ON COLUMN stray_orders.payment IS 'The id under which the bank side has it, which need not be one of ours';
COMMENT ON COLUMN stray_orders.reference IS 'Readable: the payment is rebuilt as soon as that is possible';
COMMENT ON COLUMN stray_orders.qrc_id IS 'NULL: unknown, so no payment may be accepted at all';

CREATE TYPE recovery_verdict AS ENUM
  ('recovered', 'known', 'no_account', 'key_taken', 'qr_in_flight', 'insufficient_balance');
