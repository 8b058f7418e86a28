-- What a shard on Citus has besides the tables of every shard: see docs/internals/shards.md. Made in the schema of the shard.

-- The number that the next account gets, the copies of what stands once, and which state of the originals they have.
CREATE TABLE shard_state (
  only_row boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (only_row),
  number int NOT NULL,
  shards int NOT NULL,
  accounts int NOT NULL DEFAULT 0,
  incarnation int NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 0,
  confirmed_at timestamptz NOT NULL DEFAULT '-infinity',
  digest text,
  newest_rate bigint,
  maintenance boolean NOT NULL DEFAULT true,
  is_recovering boolean NOT NULL DEFAULT true,
  history int NOT NULL DEFAULT 0,
  node text,
  next_node text
);
COMMENT ON COLUMN shard_state.shards IS 'How many there are: written with a new shard, in one transaction';
COMMENT ON COLUMN shard_state.version IS 'Of the copies; grows within an incarnation';
COMMENT ON COLUMN shard_state.confirmed_at IS 'By the clock of this node, before the originals were read';
COMMENT ON COLUMN shard_state.history IS 'The incarnation that the shard belongs to';
COMMENT ON COLUMN shard_state.node IS 'What node_identity() gave when that began; NULL: the trigger writes it';
COMMENT ON COLUMN shard_state.next_node IS 'The same of the node that the shard moves to';

CREATE TABLE copied_windows (
  from_at timestamptz NOT NULL,
  until_at timestamptz NOT NULL
);
CREATE TABLE copied_recipients (
  recipient text NOT NULL PRIMARY KEY
);
CREATE TABLE copied_limits (
  partner_id uuid NOT NULL PRIMARY KEY,
  concurrent int NOT NULL,
  daily_kopecks bigint
);
CREATE TABLE copied_strays (
  payment text NOT NULL PRIMARY KEY,
  idempotency_key text,
  partner_id uuid,
  why text NOT NULL,
  incarnation int NOT NULL,
  began_at timestamptz NOT NULL
);

-- What deliveries_end has to tell people. The tables for it stand once: see src/db/shards/notices.ts.
CREATE TABLE pending_notices (
  id uuid NOT NULL PRIMARY KEY DEFAULT gen_random_uuid(),
  partner_id uuid NOT NULL,
  kind text NOT NULL,
  details jsonb NOT NULL,
  at timestamptz NOT NULL,
  alarm_subject text,
  alarm_detail text
);

-- What keys with a daily limit have spent: see functions/payments_open_limited.sql. In one database these stand once.
CREATE TABLE key_turnovers (
  key_id text NOT NULL,
  day date NOT NULL,
  kopecks bigint NOT NULL,
  CONSTRAINT key_turnovers_pkey PRIMARY KEY (key_id, day),
  CONSTRAINT key_turnovers_are_not_negative CHECK (kopecks >= 0)
) WITH (fillfactor = 50);
CREATE TABLE key_unsettled (
  key_id text NOT NULL,
  payment_id uuid NOT NULL,
  day date NOT NULL,
  kopecks bigint NOT NULL,
  CONSTRAINT key_unsettled_pkey PRIMARY KEY (key_id, payment_id)
) WITH (fillfactor = 50);

-- Where event numbers of an account have jumped after a loss: see functions/incarnation_begin.sql.
CREATE TABLE account_gaps (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  incarnation int NOT NULL,
  last_event_id bigint NOT NULL,
  next_event_id bigint NOT NULL,
  CONSTRAINT account_gaps_pkey PRIMARY KEY (partner_id, mode, incarnation)
);
CREATE INDEX account_gaps_by_event ON account_gaps (next_event_id);

-- The number of the account's last event. The first is shard × 10^15 + account × 10^10 + 1.
ALTER TABLE accounts ADD COLUMN last_event_id bigint NOT NULL DEFAULT 0;
