-- See docs/internals/shards.md. Shard 0 is this schema.
CREATE TABLE shards (
  number int PRIMARY KEY CHECK (number BETWEEN 0 AND 998),
  created_at timestamptz NOT NULL
);
INSERT INTO shards (number, created_at) VALUES (0, now());
-- payments_open reads it from the commit of this migration on, before the grants of new tables follow.
GRANT SELECT ON shards TO PUBLIC;
ALTER TABLE partners ADD COLUMN shard int NOT NULL DEFAULT 0;

-- With several shards: the partner whose payments hold a QR code, in the shard that the hash of the code gives.
CREATE TABLE code_reservations (
  qrc_id text NOT NULL PRIMARY KEY,
  partner_id uuid NOT NULL,
  payment_ids uuid[] NOT NULL,
  CONSTRAINT code_reservations_are_for_payments CHECK (cardinality(payment_ids) > 0)
) WITH (fillfactor = 50);

-- Payments that must never be opened: their code was freed before they were.
CREATE TABLE void_openings (
  payment_id uuid NOT NULL PRIMARY KEY,
  partner_id uuid NOT NULL,
  voided_at timestamptz NOT NULL
);

-- Event numbers that a lost history may have given out, for shards other than the first, whose numbers stand in incarnations.
CREATE TABLE event_gaps (
  incarnation int NOT NULL REFERENCES incarnations (number),
  shard int NOT NULL,
  last_event_id bigint NOT NULL,
  next_event_id bigint NOT NULL,
  PRIMARY KEY (incarnation, shard),
  CONSTRAINT event_gaps_go_forward CHECK (next_event_id > last_event_id)
);
