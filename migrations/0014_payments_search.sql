-- What operators look for, what the bank side was asked and said, and what waits for a second person.

-- Payments of all partners, newest first: ids grow with time. Every index of payments that operators need is partial in
-- the same way, and no query that moves money says NOT rejected together with a mode or an id: so none of them can be
-- planned along these, however empty the tables were at the time. None holds what a payment's end changes: ending one
-- stays an update within its page that touches no index.
CREATE INDEX payments_newest ON payments (mode, id) WHERE NOT rejected;
CREATE INDEX payments_by_qr ON payments (qrc_id, id) WHERE NOT rejected;
CREATE INDEX payments_by_amount ON payments (amount_kopecks, id) WHERE NOT rejected;
-- In the order of bytes, whatever the database's own order of letters is: the beginning of a name is a range of it.
CREATE INDEX payments_by_recipient ON payments ((lower(recipient) COLLATE "C"), id) WHERE NOT rejected;

-- The same look-up as before, and newest first for all partners together.
DROP INDEX payments_by_external_id;
CREATE INDEX payments_by_external_id ON payments (external_id, id, partner_id)
  WHERE external_id IS NOT NULL AND NOT rejected;

-- What failed gave its money back, and so did attempts that were rejected. A success pays nothing for it.
CREATE INDEX entries_of_releases ON entries (payment_id, partner_id, mode)
  WHERE from_account = 'held' AND to_account = 'available';

-- The way from a payment to its event, and from there to the attempts to deliver it. Both grow at their end.
CREATE INDEX events_by_payment ON events (payment_id);
CREATE INDEX webhook_attempts_by_event ON webhook_attempts (event_id);

-- Every conversation with the bank side about a payment, for ninety days. Bodies only, never a header, and cut.
CREATE TABLE gateway_calls (
  payment_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL,
  call text NOT NULL,
  duration_ms int NOT NULL,
  -- Of the answer, if there was one; what it was taken for; and what broke.
  status int,
  outcome text NOT NULL,
  request text,
  response text,
  error text,
  PRIMARY KEY (payment_id, id)
);
CREATE INDEX gateway_calls_by_time ON gateway_calls USING brin (at);

-- Above these an action needs a second person.
ALTER TABLE service
  ADD COLUMN resolve_alone_kopecks bigint NOT NULL DEFAULT 1000000 CHECK (resolve_alone_kopecks >= 0),
  ADD COLUMN credit_alone_micro_usdt bigint NOT NULL DEFAULT 1000000000 CHECK (credit_alone_micro_usdt >= 0),
  ADD COLUMN thresholds_version int NOT NULL DEFAULT 1;

-- What one operator has asked for and another has to approve.
CREATE TABLE operator_requests (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('resolve', 'credit', 'thresholds')),
  -- The payment, the partner, or `service`; and of a credit what names it.
  subject text NOT NULL,
  reference text NOT NULL DEFAULT '',
  change jsonb NOT NULL,
  amount_kopecks bigint,
  micro_usdt bigint,
  reason text NOT NULL,
  -- By id, which nobody can change or have again, and by name as it was, for people to read.
  asked_by uuid NOT NULL,
  asked_name text NOT NULL,
  asked_at timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'approved', 'refused', 'withdrawn', 'void')),
  decided_by uuid,
  decided_name text,
  decided_at timestamptz,
  CONSTRAINT requests_are_decided_once CHECK ((state = 'waiting') = (decided_at IS NULL)),
  CONSTRAINT requests_are_decided_by_somebody CHECK (
    (decided_at IS NULL) = (decided_by IS NULL) AND (decided_at IS NULL) = (decided_name IS NULL)),
  CONSTRAINT requests_are_approved_by_another CHECK (state <> 'approved' OR decided_by <> asked_by)
);
CREATE UNIQUE INDEX operator_requests_wait_once ON operator_requests (kind, subject, reference)
  WHERE state = 'waiting';
CREATE INDEX operator_requests_by_subject ON operator_requests (subject, id);
