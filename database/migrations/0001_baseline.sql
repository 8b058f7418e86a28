-- Everything that the first version needs: types, tables, indexes and triggers, by subject.

-- A trigger needs its function. The bodies are in database/functions/, which is applied in the same transaction.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no body yet''; END';
CREATE FUNCTION announce_access_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no body yet''; END';
CREATE FUNCTION queue_deliveries() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no body yet''; END';

CREATE TYPE mode AS ENUM ('live', 'test');


-- Service

-- One row with the state of the service as a whole.
CREATE TABLE service (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  maintenance boolean NOT NULL DEFAULT false,
  -- Shows whether a process has the SECRET_KEY that this database was first used with.
  secret_key_fingerprint text,
  -- When the last scheduled reconciliation ran.
  reconciled_at timestamptz,
  -- Partners have been notified that the rate is stale, and not yet that it is fresh again.
  rate_stale_notified boolean NOT NULL DEFAULT false,
  -- Four-eyes approval: above these amounts an action needs a second operator.
  resolve_alone_kopecks bigint NOT NULL DEFAULT 1000000 CHECK (resolve_alone_kopecks >= 0),
  credit_alone_micro_usdt bigint NOT NULL DEFAULT 1000000000 CHECK (credit_alone_micro_usdt >= 0),
  thresholds_version int NOT NULL DEFAULT 1
);
INSERT INTO service DEFAULT VALUES;

-- Periods in which no payments are accepted, planned in advance.
CREATE TABLE maintenance_windows (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  from_at timestamptz NOT NULL,
  until_at timestamptz NOT NULL,
  planned_by text NOT NULL,
  planned_at timestamptz NOT NULL,
  cancelled_by text,
  cancelled_at timestamptz,
  CONSTRAINT maintenance_windows_end_after_they_begin CHECK (until_at > from_at)
);
CREATE INDEX maintenance_windows_to_come ON maintenance_windows (until_at) WHERE cancelled_at IS NULL;

-- A recipient's name, or its identifier at the bank, in lower case. A match on either is refused.
CREATE TABLE blocked_recipients (
  recipient text PRIMARY KEY,
  blocked_at timestamptz NOT NULL
);

-- Who changed what, when, from what to what.
CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  before jsonb,
  after jsonb
);
-- One index per filter of the audit log, each in the order of its pages.
CREATE INDEX audit_by_subject ON audit (subject, at, id);
CREATE INDEX audit_by_actor ON audit (actor, at, id);
CREATE INDEX audit_by_action ON audit (action, at, id);
CREATE INDEX audit_by_time ON audit (at, id);
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
  EXECUTE FUNCTION refuse_change();
ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_is_append_only;

-- Each process takes a number and holds an advisory lock on it while it is connected: its heartbeat.
CREATE SEQUENCE instances AS int CYCLE;

-- What people must look at. An alarm that is raised again while it is open is counted, not repeated.
CREATE TABLE alarms (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  subject text NOT NULL,
  detail text NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  times int NOT NULL DEFAULT 1,
  cleared_at timestamptz,
  cleared_by text,
  -- When it was sent to the staff chat: once per alarm.
  sent_at timestamptz,
  CONSTRAINT alarms_are_cleared_by_somebody CHECK ((cleared_at IS NULL) = (cleared_by IS NULL))
);
CREATE UNIQUE INDEX alarms_open_once ON alarms (kind, subject) WHERE cleared_at IS NULL;
CREATE INDEX alarms_unsent ON alarms (id) WHERE sent_at IS NULL;


-- Partners and access

CREATE TABLE partners (
  id uuid PRIMARY KEY,
  name text NOT NULL CHECK (name <> ''),
  suspended boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  min_kopecks bigint NOT NULL DEFAULT 1000 CHECK (min_kopecks > 0),
  max_kopecks bigint NOT NULL DEFAULT 10000000,
  daily_kopecks bigint CHECK (daily_kopecks >= 0),
  concurrent int NOT NULL DEFAULT 2 CHECK (concurrent > 0),
  create_rps int NOT NULL DEFAULT 3 CHECK (create_rps > 0),
  create_burst int NOT NULL DEFAULT 10 CHECK (create_burst > 0),
  other_rps int NOT NULL DEFAULT 20 CHECK (other_rps > 0),
  -- A partner that signed up in the bot starts in test mode; an operator approves or refuses live payments.
  live_approved boolean NOT NULL DEFAULT true,
  approval_asked_at timestamptz,
  live_refused_at timestamptz,
  CONSTRAINT max_is_not_below_min CHECK (max_kopecks >= min_kopecks)
);
COMMENT ON COLUMN partners.daily_kopecks IS 'NULL: no daily limit';
CREATE TRIGGER partners_announce AFTER UPDATE OR DELETE ON partners
  EXECUTE FUNCTION announce_access_change();

-- The key itself is not stored: only its public part (id) and a hash peppered with SECRET_KEY.
CREATE TABLE api_keys (
  id text PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  mode mode NOT NULL,
  hash bytea NOT NULL,
  allowed_addresses text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  revoked_at timestamptz,
  last_used_at timestamptz
);
CREATE INDEX api_keys_by_partner ON api_keys (partner_id);
-- Not on every update: last_used_at is written often and nobody caches it.
CREATE TRIGGER api_keys_announce AFTER UPDATE OF revoked_at, allowed_addresses OR DELETE ON api_keys
  EXECUTE FUNCTION announce_access_change();

-- Token buckets of the rate limits, shared by all processes. Unlogged: a crash of the database only refills them.
CREATE UNLOGGED TABLE rate_buckets (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  kind text NOT NULL,
  tokens double precision NOT NULL,
  filled_at timestamptz NOT NULL,
  PRIMARY KEY (partner_id, mode, kind)
) WITH (fillfactor = 50);


-- Ledger: double entry in micro-USDT, per partner and mode
--
--   topup ──credit──▶ available ──hold──▶ held ──settle──▶ settled
--   treasury ─grant──▶    ▲                 │
--                         └─────release─────┘
--
-- topup and treasury are counter-accounts: money from outside and grants are negative there, so that the five accounts
-- always sum to zero.

CREATE TYPE account AS ENUM ('topup', 'treasury', 'available', 'held', 'settled');

-- The five accounts of a partner and mode are one row, because every transfer is between two of them: one lock, one
-- update, and a CHECK can prove that they sum to zero. Half of each page stays free so that updates stay on the page
-- (HOT) and touch no index.
CREATE TABLE accounts (
  partner_id uuid NOT NULL REFERENCES partners,
  mode mode NOT NULL,
  topup bigint NOT NULL DEFAULT 0,
  treasury bigint NOT NULL DEFAULT 0,
  available bigint NOT NULL DEFAULT 0,
  held bigint NOT NULL DEFAULT 0,
  settled bigint NOT NULL DEFAULT 0,
  entry_count bigint NOT NULL DEFAULT 0,
  -- No entry gets an earlier time than this: the time of the last entry, or the end of the last day that was closed.
  last_entry_at timestamptz NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (partner_id, mode),
  CONSTRAINT accounts_never_below_zero CHECK (available >= 0 AND held >= 0 AND settled >= 0),
  CONSTRAINT accounts_sum_to_zero CHECK (topup + treasury + available + held + settled = 0)
) WITH (fillfactor = 50);

-- One row holds both legs of a transfer and the balance of both accounts after it. entry_no counts 1, 2, 3 … without
-- gaps within a partner and mode. There is no foreign key to accounts: it would cost a look-up per entry, for something
-- that ledger_post guarantees and `ledger verify` checks.
CREATE TABLE entries (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  entry_no bigint NOT NULL,
  from_account account NOT NULL,
  to_account account NOT NULL,
  micro_usdt bigint NOT NULL CHECK (micro_usdt > 0),
  from_after bigint NOT NULL,
  to_after bigint NOT NULL,
  payment_id uuid,
  reference text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (partner_id, mode, entry_no),
  CONSTRAINT entries_are_of_a_known_kind CHECK (CASE
    WHEN payment_id IS NOT NULL THEN reference IS NULL AND (from_account, to_account) IN
      (('available', 'held'), ('held', 'settled'), ('held', 'available'))
    ELSE reference IS NOT NULL AND to_account = 'available' AND from_account IN ('topup', 'treasury')
  END)
);

-- A hold leaves available; a settle or a release leaves held. So one index guarantees one hold per payment and at most
-- one settle or release. It starts with the payment, whose ids grow with time: new rows go to its end.
CREATE UNIQUE INDEX entries_once_per_payment ON entries (payment_id, from_account, partner_id, mode)
  WHERE payment_id IS NOT NULL;
CREATE UNIQUE INDEX entries_once_per_reference ON entries (reference, partner_id, mode)
  WHERE reference IS NOT NULL;
-- Failed and rejected payments, for the search. Successful payments do not pay for this index.
CREATE INDEX entries_of_releases ON entries (payment_id, partner_id, mode)
  WHERE from_account = 'held' AND to_account = 'available';
-- Credits and grants are rare among the entries of an account, and are listed without the rest.
CREATE INDEX entries_from_outside ON entries (partner_id, mode, from_account, entry_no) WHERE payment_id IS NULL;

CREATE TRIGGER entries_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
  EXECUTE FUNCTION refuse_change();
ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_are_append_only;

CREATE TYPE ledger_operation AS ENUM ('credit', 'grant', 'hold', 'settle', 'release');
CREATE TYPE ledger_verdict AS ENUM (
  'done',          -- carried out now
  'already_done',  -- carried out before, with the same amount
  'ended',         -- hold: the payment was held and has been settled or released since
  'insufficient',  -- hold: more than is available
  'conflict',      -- carried out before with another amount, or ended the other way
  'not_held',      -- settle, release: there is no such hold
  'no_account'     -- there is no such partner
);


-- Rates

-- Every rate with the quotes it was made of. A payment refers to the row whose rate it got, so rows are never removed.
CREATE TABLE rates (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  as_of timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  mid_e4 bigint NOT NULL CHECK (mid_e4 > 0),
  spread_bps int NOT NULL CHECK (spread_bps BETWEEN 0 AND 5000),
  rate_e4 bigint NOT NULL CHECK (rate_e4 > 0),
  parts jsonb NOT NULL,
  CONSTRAINT rates_are_the_mid_less_the_spread CHECK (rate_e4 = mid_e4 * (10000 - spread_bps) / 10000)
);
COMMENT ON COLUMN rates.as_of IS 'the age of the oldest quote in it';
COMMENT ON COLUMN rates.rate_e4 IS 'RUB for 1 USDT that a partner gets, times 10^4';
COMMENT ON COLUMN rates.parts IS 'what every source said, or why it was not used';
CREATE INDEX rates_by_time ON rates (created_at, id);
CREATE TRIGGER rates_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rates
  EXECUTE FUNCTION refuse_change();

-- How the rate is made of the quotes. The newest row counts; without any row the settings count.
CREATE TABLE rate_rules (
  version int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  spread_bps int NOT NULL CHECK (spread_bps BETWEEN 0 AND 5000),
  band_bps int NOT NULL CHECK (band_bps BETWEEN 1 AND 5000),
  jump_bps int NOT NULL CHECK (jump_bps BETWEEN 1 AND 5000),
  set_by text NOT NULL,
  set_at timestamptz NOT NULL,
  reason text NOT NULL
);
CREATE TRIGGER rate_rules_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rate_rules
  EXECUTE FUNCTION refuse_change();

-- One row: when a process last started to refresh the rate. It stores the past moment and not the next one, so that a
-- shorter RATE_REFRESH_SEC counts from the next start and not from the end of the longer period.
CREATE TABLE rate_refresh (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  claimed_at timestamptz NOT NULL DEFAULT '-infinity'
);
INSERT INTO rate_refresh DEFAULT VALUES;


-- Payments

-- 'rejected': an attempt that the gateway refused before acceptance. It stays on record, but it is not a payment.
CREATE TYPE payment_status AS ENUM ('processing', 'succeeded', 'failed', 'rejected');
CREATE TYPE payment_detail AS ENUM ('awaiting_gateway', 'manual_review', 'gateway_declined');

CREATE TABLE payments (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  id uuid NOT NULL,
  status payment_status NOT NULL,
  status_detail payment_detail,
  -- Separate from the status, so that a change of status touches no index.
  rejected boolean NOT NULL DEFAULT false,
  idempotency_key text NOT NULL,
  request_hash bytea NOT NULL,
  external_id text,
  qrc_id text NOT NULL,
  qr_url text NOT NULL,
  fingerprint text NOT NULL,
  recipient text NOT NULL,
  amount_kopecks bigint NOT NULL CHECK (amount_kopecks > 0),
  micro_usdt bigint NOT NULL CHECK (micro_usdt > 0),
  rate_e4 bigint NOT NULL CHECK (rate_e4 > 0),
  rate_id bigint NOT NULL,
  -- Text and not json: it is returned byte for byte as it was accepted.
  metadata text NOT NULL,
  gateway_order_id text,
  error_code text,
  created_at timestamptz NOT NULL,
  settled_at timestamptz,
  PRIMARY KEY (partner_id, mode, id),
  CONSTRAINT payments_end_when_settled CHECK ((status = 'processing') = (settled_at IS NULL)),
  CONSTRAINT payments_fail_for_a_reason CHECK ((status IN ('failed', 'rejected')) = (error_code IS NOT NULL)),
  CONSTRAINT payments_are_rejected_or_not CHECK (rejected = (status = 'rejected'))
) WITH (fillfactor = 75);

-- An accepted payment binds its idempotency key forever; a rejected attempt leaves the key free. The index starts with
-- the key, and look-ups compare the rest with IS NOT DISTINCT FROM. Otherwise a plan made while the table was empty
-- could read all payments of a partner instead.
CREATE UNIQUE INDEX payments_once_per_key ON payments (idempotency_key, partner_id, mode) WHERE NOT rejected;

-- For the search of operators and partners, newest first: ids grow with time. All these indexes are partial (NOT
-- rejected), and no query that moves money says NOT rejected together with a mode or an id. So none of those queries can
-- get a plan that uses these indexes, however empty the tables were when it was planned. No index contains a column
-- that changes when a payment ends: ending one stays an update within its page (HOT).
CREATE INDEX payments_newest ON payments (mode, id) WHERE NOT rejected;
CREATE INDEX payments_by_qr ON payments (qrc_id, id) WHERE NOT rejected;
CREATE INDEX payments_by_amount ON payments (amount_kopecks, id) WHERE NOT rejected;
-- In byte order, whatever the collation of the database is: a prefix of a name is then a range.
CREATE INDEX payments_by_recipient ON payments ((lower(recipient) COLLATE "C"), id) WHERE NOT rejected;
CREATE INDEX payments_by_external_id ON payments (external_id, id, partner_id)
  WHERE external_id IS NOT NULL AND NOT rejected;

-- One row per unfinished payment: the guard against paying a QR code twice at the same time, the count of payments under
-- way, and the time of the next poll. The guard spans all partners in live mode (scope: zero) and one in test mode.
CREATE TABLE open_payments (
  scope uuid NOT NULL,
  qrc_id text NOT NULL,
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  payment_id uuid NOT NULL,
  awaiting_gateway boolean NOT NULL,
  next_at timestamptz NOT NULL,
  tries int NOT NULL DEFAULT 0,
  -- The process that works on the payment. When that process is dead, the payment is due whatever next_at says.
  lease_holder int,
  -- Since when support is asked to decide: two hours after the payment was created.
  support_since timestamptz,
  PRIMARY KEY (scope, qrc_id)
) WITH (fillfactor = 50);
CREATE INDEX open_payments_by_partner ON open_payments (partner_id, mode);
CREATE INDEX open_payments_by_time ON open_payments (next_at);

CREATE TYPE payment_opening AS (
  partner_id uuid, mode mode, id uuid, idempotency_key text, request_hash bytea, external_id text,
  qrc_id text, qr_url text, fingerprint text, recipient text, amount_kopecks bigint, micro_usdt bigint,
  rate_e4 bigint, rate_id bigint, rate_stale_at timestamptz, metadata text, next_at timestamptz, lease_holder int
);
CREATE TYPE opening_verdict AS ENUM (
  'opened', 'known', 'rate_unavailable', 'duplicate_qr_in_flight', 'gateway_busy', 'daily_limit_exceeded',
  'insufficient_balance', 'no_account'
);

-- Every exchange with the gateway about a payment, for ninety days. Bodies only (shortened), never a header.
CREATE TABLE gateway_calls (
  payment_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL,
  call text NOT NULL,
  duration_ms int NOT NULL,
  -- The HTTP status, if there was an answer; how the answer was understood; and the error, if it broke.
  status int,
  outcome text NOT NULL,
  request text,
  response text,
  error text,
  PRIMARY KEY (payment_id, id)
);
CREATE INDEX gateway_calls_by_time ON gateway_calls USING brin (at);

-- Payments that partners were notified about as taking long. A row goes when they are notified of the end.
CREATE TABLE long_payments (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  payment_id uuid NOT NULL,
  PRIMARY KEY (partner_id, mode, payment_id)
);


-- Reconciliation: our payments against the orders of the gateway

CREATE TABLE reconciliations (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  actor text NOT NULL,
  -- Payments created from from_at on and before until_at.
  from_at timestamptz NOT NULL,
  until_at timestamptz NOT NULL,
  started_at timestamptz NOT NULL,
  finished_at timestamptz,
  orders bigint,
  payments bigint,
  differences jsonb
);

-- The orders that the gateway listed, kept only while a run compares them. Unlogged: a crash ends the run as well.
CREATE UNLOGGED TABLE listed_orders (
  run_id bigint NOT NULL,
  order_id text NOT NULL,
  -- As listed; and as the id of a payment, if it has the form of one.
  payment text NOT NULL,
  payment_id uuid,
  state text NOT NULL,
  amount_kopecks bigint NOT NULL,
  PRIMARY KEY (run_id, order_id, payment)
);


-- Events and webhooks

-- The outbox: one event per finished payment, written in the transaction that ends it. Ids are drawn under the lock of
-- the partner's accounts. So within a partner and mode they are in commit order, and a reader that has read one never
-- finds a smaller one later.
CREATE TABLE events (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  payment_id uuid NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (partner_id, mode, id)
);
-- From a payment to its event. It grows at its end.
CREATE INDEX events_by_payment ON events (payment_id);
CREATE TRIGGER events_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  EXECUTE FUNCTION refuse_change();
ALTER TABLE events ENABLE ALWAYS TRIGGER events_are_append_only;
CREATE TRIGGER events_are_delivered AFTER INSERT ON events
  REFERENCING NEW TABLE AS new_events FOR EACH STATEMENT EXECUTE FUNCTION queue_deliveries();

CREATE TABLE webhooks (
  partner_id uuid PRIMARY KEY REFERENCES partners (id),
  url text NOT NULL,
  -- Encrypted with a key derived from SECRET_KEY. After a rotation the old secret signs too, until old_secret_until.
  secret bytea NOT NULL,
  old_secret bytea,
  old_secret_until timestamptz,
  -- The last attempt was slow and failed: the next ones run where they do not delay other partners.
  hanging boolean NOT NULL DEFAULT false,
  -- Events given up in a row, with no delivery in between. Three suspend sending: the circuit breaker of webhooks.
  given_up int NOT NULL DEFAULT 0,
  suspended_at timestamptz,
  -- Events up to this one arrived while sending was suspended; they are sent one after the other.
  kept_until bigint,
  -- The process that sends to this partner. No other process does until leased_until, unless the holder dies.
  lease_holder int,
  leased_until timestamptz,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  CONSTRAINT webhooks_have_an_end_for_the_old_secret CHECK ((old_secret IS NULL) = (old_secret_until IS NULL))
);

-- One row per event that is not delivered yet; failed_at is set when it was given up.
CREATE TABLE deliveries (
  partner_id uuid NOT NULL,
  event_id bigint NOT NULL,
  mode mode NOT NULL,
  payment_id uuid NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL,
  failed_at timestamptz,
  -- Test mode only: since when the event is held back so that another one is sent first.
  held_at timestamptz,
  PRIMARY KEY (partner_id, event_id)
) WITH (fillfactor = 75);
CREATE INDEX deliveries_due ON deliveries (partner_id, next_at, event_id) WHERE failed_at IS NULL;
CREATE INDEX deliveries_given_up ON deliveries (failed_at) WHERE failed_at IS NOT NULL;
CREATE INDEX deliveries_held ON deliveries (partner_id) WHERE held_at IS NOT NULL;

-- The result of every attempt, for thirty days.
CREATE TABLE webhook_attempts (
  partner_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  event_id bigint NOT NULL,
  attempt int NOT NULL,
  at timestamptz NOT NULL,
  -- The HTTP status, if there was an answer; otherwise the kind of failure.
  status int,
  error text,
  duration_ms int NOT NULL,
  PRIMARY KEY (partner_id, id)
);
CREATE INDEX webhook_attempts_by_time ON webhook_attempts USING brin (at);
-- From an event to its attempts. It grows at its end.
CREATE INDEX webhook_attempts_by_event ON webhook_attempts (event_id);


-- Notices and the chat bot

-- The outbox of notices to partners; the bot marks what it has sent.
CREATE TABLE partner_notices (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Null: all partners.
  partner_id uuid,
  kind text NOT NULL,
  details jsonb NOT NULL,
  at timestamptz NOT NULL,
  sent_at timestamptz
);
CREATE INDEX partner_notices_unsent ON partner_notices (id) WHERE sent_at IS NULL;
-- A notice of a kind that was sent recently waits and is sent together with others.
CREATE INDEX partner_notices_sent ON partner_notices (sent_at) WHERE sent_at IS NOT NULL;
CREATE INDEX partner_notices_by_time ON partner_notices USING brin (at);

-- A person who wrote to the bot. The Telegram id is the only identity.
CREATE TABLE chat_users (
  user_id bigint PRIMARY KEY,
  language text NOT NULL CHECK (language IN ('ru', 'en')),
  -- Topics of notices that they switched off.
  muted text[] NOT NULL DEFAULT '{}',
  -- They blocked the bot: nothing is sent until they write again.
  blocked_at timestamptz,
  -- The question or confirmation that is open; stored, so that a restart does not end a conversation.
  dialogue jsonb,
  -- The partner whose menus they see.
  partner_id uuid REFERENCES partners,
  created_at timestamptz NOT NULL
);

CREATE TYPE member_role AS ENUM ('viewer', 'developer', 'owner');

CREATE TABLE members (
  partner_id uuid NOT NULL REFERENCES partners,
  user_id bigint NOT NULL,
  role member_role NOT NULL,
  -- As Telegram showed it when they joined, so that people recognise each other.
  name text NOT NULL,
  joined_at timestamptz NOT NULL,
  PRIMARY KEY (partner_id, user_id)
);
CREATE INDEX members_by_user ON members (user_id);

-- A link that lets one person join a team. Only a hash of its token is stored.
CREATE TABLE invitations (
  hash bytea PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  role member_role NOT NULL,
  -- Null: an operator.
  made_by bigint,
  expires_at timestamptz NOT NULL,
  used_by bigint,
  used_at timestamptz
);

-- The outbox of the bot: messages to send and to delete when they are due. At least once, by any process.
CREATE TABLE chat_jobs (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Null: the staff chat of the settings.
  chat_id bigint,
  task jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  tries int NOT NULL DEFAULT 0
);
-- Two queues: deleting a secret from a chat never waits behind messages.
CREATE INDEX chat_jobs_deletes_due ON chat_jobs (due_at, id) WHERE task->>'do' = 'delete';
CREATE INDEX chat_jobs_messages_due ON chat_jobs (due_at, id) WHERE task->>'do' <> 'delete';

-- Low-balance warnings. A partner is warned once, and again only after the balance was above the mark.
CREATE TABLE balance_marks (
  partner_id uuid PRIMARY KEY REFERENCES partners,
  low_micro_usdt bigint NOT NULL CHECK (low_micro_usdt > 0),
  low_since timestamptz
);


-- Operators of the console

CREATE TABLE operators (
  id uuid PRIMARY KEY,
  -- In lower case: the name to sign in with, and the actor in the audit.
  name text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9.-]{0,38}[a-z0-9]$'),
  role text NOT NULL CHECK (role IN ('viewer', 'support', 'finance', 'admin')),
  created_at timestamptz NOT NULL,
  disabled_at timestamptz,
  -- Null until they have used their setup link, and again after a reset.
  password_hash text,
  -- Encrypted; created with the setup link.
  totp_secret bytea,
  -- The time step of the last accepted code: no code is accepted twice. Null: they have never signed in.
  totp_last_step bigint,
  -- The open setup link for password and TOTP. Only a hash is stored.
  setup_hash bytea UNIQUE,
  setup_expires_at timestamptz,
  CHECK ((setup_hash IS NULL) = (setup_expires_at IS NULL)),
  CHECK (password_hash IS NULL OR totp_secret IS NOT NULL)
);

-- Only a hash of the token is stored: somebody who can read this table cannot use a session.
CREATE TABLE operator_sessions (
  id uuid PRIMARY KEY,
  operator_id uuid NOT NULL REFERENCES operators,
  token_hash bytea NOT NULL UNIQUE,
  address text NOT NULL,
  user_agent text NOT NULL,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  ended_at timestamptz
);
CREATE INDEX operator_sessions_open ON operator_sessions (operator_id) WHERE ended_at IS NULL;
CREATE INDEX operator_sessions_by_time ON operator_sessions (operator_id, last_seen_at);

-- Sign-ins that failed or are under way. The typed name may be anything, even a password, so only its hash is stored.
CREATE TABLE login_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  name_hash bytea NOT NULL,
  address text NOT NULL
);
CREATE INDEX login_attempts_by_name ON login_attempts (name_hash, address, at);
CREATE INDEX login_attempts_by_address ON login_attempts (address, at);
CREATE INDEX login_attempts_by_time ON login_attempts (at);

-- Four-eyes approval: what one operator asked for and another has to approve.
CREATE TABLE operator_requests (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('resolve', 'credit', 'thresholds')),
  -- The payment, the partner, or `service`; for a credit also its reference.
  subject text NOT NULL,
  reference text NOT NULL DEFAULT '',
  change jsonb NOT NULL,
  amount_kopecks bigint,
  micro_usdt bigint,
  reason text NOT NULL,
  -- The id cannot be changed or reused; the name as it was then is for people to read.
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


-- Test mode: a clock per partner and simulated failures. No live payment reads or writes these tables.

-- By how much each partner has advanced its test clock in total. The due times themselves are moved in their tables.
CREATE TABLE test_clocks (
  partner_id uuid PRIMARY KEY REFERENCES partners (id),
  advanced_sec bigint NOT NULL CHECK (advanced_sec > 0)
);

-- How often a test payment with a simulated refusal was refused, by idempotency key: it has no payment row yet.
CREATE TABLE test_refusals (
  partner_id uuid NOT NULL,
  idempotency_key text NOT NULL,
  times int NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (partner_id, idempotency_key)
);
CREATE INDEX test_refusals_by_time ON test_refusals USING brin (at);
