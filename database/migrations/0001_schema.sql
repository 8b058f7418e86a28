-- Types, tables, views, indexes and triggers, by subject.
--
-- TRUNCATE always has a trigger of its own. Engines that spread tables over machines pass on triggers of rows and statements, but
-- not one that is also for TRUNCATE: an UPDATE would go through in silence.

-- A trigger needs its function. The bodies are in database/functions/, which is applied in the same transaction.
CREATE FUNCTION announce_access_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no body yet''; END';
CREATE FUNCTION prove_checkpoint() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no body yet''; END';
CREATE FUNCTION queue_audit_record() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no body yet''; END';
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no body yet''; END';
CREATE FUNCTION refuse_delete() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no body yet''; END';
CREATE FUNCTION refuse_unarchived() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no body yet''; END';
CREATE FUNCTION refuse_unpruned() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no body yet''; END';

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
  thresholds_version int NOT NULL DEFAULT 1,
  audit_head_logged_at timestamptz,
  -- When refunds were last read, up to which one, and when all of the last weeks were. Refunds from before `refunds_from` are not
  -- booked by themselves: operators may have credited them by hand.
  refunds_from timestamptz NOT NULL DEFAULT now(),
  refunds_asked_at timestamptz,
  refunds_read_to timestamptz,
  refunds_swept_at timestamptz
);
INSERT INTO service DEFAULT VALUES;

-- SECRET_KEY can be replaced: see docs/internals/secrets.md. The key in use is the one of service.secret_key_fingerprint.
CREATE TABLE secret_keys (
  -- The first eight digits of the fingerprint. Sealed values name it; those of the first key name none.
  id text PRIMARY KEY,
  fingerprint text NOT NULL,
  is_first boolean NOT NULL,
  active_from timestamptz,
  active_until timestamptz
);
CREATE UNIQUE INDEX secret_keys_have_one_first ON secret_keys (is_first) WHERE is_first;

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
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON audit EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_is_not_truncated BEFORE TRUNCATE ON audit EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_records_are_chained AFTER INSERT ON audit FOR EACH ROW EXECUTE FUNCTION queue_audit_record();
ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_is_append_only;
ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_is_not_truncated;
ALTER TABLE audit ENABLE ALWAYS TRIGGER audit_records_are_chained;

-- The audit log as a chain of hashes: see docs/operations/audit.md.
CREATE TABLE audit_chain (
  place bigint PRIMARY KEY,
  audit_id bigint NOT NULL UNIQUE,
  -- SHA-256 of the hash before and this record.
  hash bytea NOT NULL CHECK (length(hash) = 32)
);
CREATE TRIGGER audit_chain_is_append_only BEFORE UPDATE OR DELETE ON audit_chain EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_chain_is_not_truncated BEFORE TRUNCATE ON audit_chain EXECUTE FUNCTION refuse_change();
ALTER TABLE audit_chain ENABLE ALWAYS TRIGGER audit_chain_is_append_only;
ALTER TABLE audit_chain ENABLE ALWAYS TRIGGER audit_chain_is_not_truncated;

-- Records that have no place in the chain yet.
CREATE TABLE audit_unchained (
  audit_id bigint PRIMARY KEY
);

-- Each process takes a number and holds an advisory lock on it while it is connected: its heartbeat.
CREATE SEQUENCE instances AS int CYCLE;

-- Each process commits here once a second. The newest time is the last moment that is surely in this database.
CREATE TABLE process_beats (
  instance int PRIMARY KEY,
  at timestamptz NOT NULL,
  -- Whether commits waited for a standby then.
  synchronous boolean NOT NULL,
  key_ids text[],
  sealing_key text
) WITH (fillfactor = 50);
COMMENT ON COLUMN process_beats.key_ids IS 'The secret keys that the process has';
COMMENT ON COLUMN process_beats.sealing_key IS 'The one with which it seals';

-- How many changes of a kind somebody has made today, to bound what people can make. One row per owner: the next day begins anew.
CREATE TABLE daily_changes (
  -- What is counted, and for whom, such as `keys prt_…`.
  owner text PRIMARY KEY,
  -- The first moment of the day (UTC).
  day timestamptz NOT NULL,
  count int NOT NULL
);

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
-- Those that were cleared a year ago are deleted.
CREATE INDEX alarms_cleared ON alarms (cleared_at) WHERE cleared_at IS NOT NULL;
-- The console lists the alarms of a year by kind, by subject and by period, newest first.
CREATE INDEX alarms_by_kind ON alarms (kind, id);
CREATE INDEX alarms_by_subject ON alarms (subject, id);
CREATE INDEX alarms_by_time ON alarms (first_at);

-- Requests to the partner API and how they were answered, so that support can look up a request_id. Kept for REQUEST_LOG_DAYS, with a
-- partition per day (src/db/retention/partitions.ts). No body, header or query string. Written in the background: rows may be missing.
CREATE TABLE api_requests (
  request_id uuid NOT NULL,
  -- When it arrived: the time in its id.
  at timestamptz NOT NULL,
  -- Null: it carried no valid key.
  partner_id uuid,
  mode mode,
  key_id text,
  -- Null: it was not valid HTTP.
  method text,
  -- The pattern of the route, such as /v1/payments/:payment_id; of an unknown route what is surely no personal data.
  path text,
  payment_id uuid,
  status smallint NOT NULL,
  error_code text,
  duration_ms int NOT NULL
) PARTITION BY RANGE (at);
CREATE TABLE api_requests_default PARTITION OF api_requests DEFAULT;

-- Ids are in the order of time. So each index finds a page of the newest rows without sorting, and grows at the end of its ranges.
-- There is no primary key: a unique index would be checked for each row, and nothing refers to these rows.
CREATE INDEX api_requests_by_id ON api_requests (request_id);
CREATE INDEX api_requests_by_partner ON api_requests (partner_id, request_id) WHERE partner_id IS NOT NULL;
CREATE INDEX api_requests_by_path ON api_requests (path, request_id);
CREATE INDEX api_requests_by_payment ON api_requests (payment_id, request_id) WHERE payment_id IS NOT NULL;
CREATE INDEX api_requests_by_error ON api_requests (error_code, request_id) WHERE error_code IS NOT NULL;
CREATE INDEX api_requests_by_failure ON api_requests ((status / 100), request_id) WHERE status >= 400;

-- Bodies of requests of partners that have asked for it (partners.bodies_logged_until), without keys and names of recipients. They are
-- apart from api_requests since they go after seven days, whatever REQUEST_LOG_DAYS is, and so that the log of everybody else costs
-- no more.
CREATE TABLE api_request_bodies (
  request_id uuid NOT NULL,
  at timestamptz NOT NULL,
  partner_id uuid NOT NULL,
  -- Null: it had none, or none that is text.
  request_body text,
  response_body text
) PARTITION BY RANGE (at);
CREATE TABLE api_request_bodies_default PARTITION OF api_request_bodies DEFAULT;
CREATE INDEX api_request_bodies_by_id ON api_request_bodies (request_id);


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
  -- In which days and times the partner's people read the portal and its reports: an IANA name. The API and the ledger are in UTC.
  time_zone text NOT NULL DEFAULT 'Europe/Moscow',
  -- Of payments by hand in the portal: the most for one, and for a day (UTC) and mode. Zero: nobody pays by hand.
  by_hand_max_kopecks bigint NOT NULL DEFAULT 1500000,
  by_hand_daily_kopecks bigint NOT NULL DEFAULT 5000000,
  -- Until when the bodies of its API requests are kept in the log: its owner asks for it, for a week at most. Null: never asked.
  bodies_logged_until timestamptz,
  CONSTRAINT max_is_not_below_min CHECK (max_kopecks >= min_kopecks)
);
COMMENT ON COLUMN partners.daily_kopecks IS 'NULL: no daily limit';
CREATE TRIGGER partners_announce AFTER UPDATE OR DELETE ON partners
  EXECUTE FUNCTION announce_access_change();

-- What operators keep about a partner for each other: whom to call, and what was agreed. Partners do not see it.
CREATE TABLE partner_contacts (
  partner_id uuid PRIMARY KEY REFERENCES partners (id),
  contacts text NOT NULL,
  notes text NOT NULL,
  -- Counts the changes: one that is based on an older version is refused.
  version int NOT NULL
);

-- The key itself is not stored: only its public part (id) and a hash peppered with SECRET_KEY.
CREATE TABLE api_keys (
  id text PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners,
  mode mode NOT NULL,
  hash bytea NOT NULL,
  allowed_addresses text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  revoked_at timestamptz,
  last_used_at timestamptz,
  hash_key text,
  label text,
  scopes text[] NOT NULL DEFAULT '{read,pay}',
  expires_at timestamptz,
  max_kopecks bigint,
  daily_kopecks bigint,
  -- Of a key that was rolled: the key that takes its place. Of that one: the first key of the row of rolls, whose turnover it
  -- continues.
  rolled_to text,
  turnover_of text,
  -- Of the notices before the expiry of a key, the last that was written or is not needed: 7 or 1 days before.
  expiry_noticed_days int,
  CONSTRAINT keys_have_known_scopes CHECK (scopes <@ '{read,pay}' AND cardinality(scopes) > 0),
  CONSTRAINT key_limits_are_positive CHECK (max_kopecks > 0 AND daily_kopecks > 0)
);
COMMENT ON COLUMN api_keys.hash_key IS 'The secret key under which the hash was made; NULL: the first';
CREATE INDEX api_keys_by_partner ON api_keys (partner_id);
-- Not on every update: last_used_at is written often and nobody caches it.
CREATE TRIGGER api_keys_announce AFTER DELETE OR UPDATE OF revoked_at, allowed_addresses, expires_at ON api_keys
  EXECUTE FUNCTION announce_access_change();

-- What a key with a daily limit has spent on a day (UTC): its processing and succeeded payments.
CREATE TABLE key_turnovers (
  key_id text NOT NULL,
  day date NOT NULL,
  kopecks bigint NOT NULL CONSTRAINT key_turnovers_are_not_negative CHECK (kopecks >= 0),
  PRIMARY KEY (key_id, day)
) WITH (fillfactor = 50);

-- Payments in these sums whose outcome was not known when their key was last used: what fails is taken out with its next use.
CREATE TABLE key_unsettled (
  key_id text NOT NULL,
  payment_id uuid NOT NULL,
  day date NOT NULL,
  kopecks bigint NOT NULL,
  PRIMARY KEY (key_id, payment_id)
) WITH (fillfactor = 50);

-- From where each key was used; the team is notified of a new one. IPv6 addresses by their network of 64 bits.
CREATE TABLE key_addresses (
  key_id text NOT NULL,
  address text NOT NULL,
  first_used_at timestamptz NOT NULL,
  PRIMARY KEY (key_id, address)
);

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
--   treasury ─grant──▶    ▲  ▲              │                 │
--                         │  └───release────┘                 │
--                         └──────────────refund───────────────┘
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
  -- What the daily limit compares with: the kopecks of the payments of turnover_day (UTC) that are processing or succeeded.
  -- Null: not counted so far; payments_open then adds the day up once.
  turnover_day date,
  turnover_kopecks bigint NOT NULL DEFAULT 0,
  -- Payments that were opened on turnover_day, whatever their outcome: the daily quota of test mode compares with it.
  opened_on_day int NOT NULL DEFAULT 0,
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
    WHEN payment_id IS NOT NULL THEN reference IS NULL AND (
         (from_account = 'available' AND to_account = 'held')
      OR (from_account = 'held' AND to_account = 'settled')
      OR (from_account = 'held' AND to_account = 'available'))
    -- The entry of a refund has a reference, as a credit has: it is unique over live and archived entries.
    ELSE reference IS NOT NULL AND to_account = 'available' AND (
         from_account IN ('topup', 'treasury')
      OR (from_account = 'settled' AND reference LIKE 'refund:%'))
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

CREATE TRIGGER entries_are_append_only BEFORE UPDATE ON entries EXECUTE FUNCTION refuse_change();
CREATE TRIGGER entries_are_not_truncated BEFORE TRUNCATE ON entries EXECUTE FUNCTION refuse_change();
-- A row leaves a live table only if the same row is in the archive.
CREATE TRIGGER entries_leave_for_the_archive AFTER DELETE ON entries REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_unarchived();
ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_are_append_only;
ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_are_not_truncated;
ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_leave_for_the_archive;

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
CREATE TRIGGER rates_are_append_only BEFORE UPDATE OR DELETE ON rates EXECUTE FUNCTION refuse_change();
CREATE TRIGGER rates_are_not_truncated BEFORE TRUNCATE ON rates EXECUTE FUNCTION refuse_change();

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
CREATE TRIGGER rate_rules_are_append_only BEFORE UPDATE OR DELETE ON rate_rules EXECUTE FUNCTION refuse_change();
CREATE TRIGGER rate_rules_are_not_truncated BEFORE TRUNCATE ON rate_rules EXECUTE FUNCTION refuse_change();

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

-- The end of a live payment updates its row, and makes it longer. More than half of each page is free, since the rows of a page
-- mostly end together: with a quarter free, 55% of the updates did not fit into it and were written to all indexes again.
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
) WITH (fillfactor = 45);

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
-- A page of one status. Only failures change error_code, so only they pay for it: a payment that succeeds is still updated in place.
CREATE INDEX payments_failed ON payments (partner_id, mode, id) WHERE error_code IS NOT NULL AND NOT rejected;

CREATE TRIGGER payments_leave_for_the_archive AFTER DELETE ON payments REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_unarchived();
CREATE TRIGGER payments_are_not_truncated BEFORE TRUNCATE ON payments EXECUTE FUNCTION refuse_change();
ALTER TABLE payments ENABLE ALWAYS TRIGGER payments_leave_for_the_archive;

-- One row per unfinished payment: the guard against paying a QR code twice at the same time, the count of payments under
-- way, and the time of the next poll. code_scope says which codes the guard spans.
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
CREATE INDEX open_payments_by_partner ON open_payments (partner_id, mode, payment_id);
-- Each mode claims its own due payments: a backlog of live ones must not be read to find a test payment.
CREATE INDEX open_payments_by_time ON open_payments (mode, next_at);

CREATE TYPE payment_opening AS (
  partner_id uuid, mode mode, id uuid, idempotency_key text, request_hash bytea, external_id text,
  qrc_id text, qr_url text, fingerprint text, recipient text, amount_kopecks bigint, micro_usdt bigint,
  rate_e4 bigint, rate_id bigint, rate_stale_at timestamptz, metadata text, next_at timestamptz, lease_holder int,
  -- With which it ends in the transaction that opens it: of test mode only. Null: it goes on.
  outcome payment_status, error_code text,
  -- The name and the id of the recipient, folded as in blocked_recipients.
  folded_name text, folded_id text,
  -- Of a key with a daily limit: the key that its turnover is counted for, and the limit.
  key_id text, key_daily_kopecks bigint,
  -- The locked quote whose terms it has.
  quote_id uuid
);
CREATE TYPE opening_verdict AS ENUM (
  'opened', 'known', 'no_account', 'maintenance', 'rate_changed', 'recipient_blocked',
  'quote_not_found', 'quote_mode_mismatch', 'quote_used', 'quote_expired', 'quote_amount_mismatch',
  'rate_unavailable', 'duplicate_qr_in_flight', 'gateway_busy', 'daily_limit_exceeded', 'insufficient_balance',
  'key_daily_limit_exceeded'
);

-- The trace of a payment, where traces are exported: another process may poll it or send its event.
CREATE TABLE payment_traces (
  payment_id uuid PRIMARY KEY,
  traceparent text NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX payment_traces_by_time ON payment_traces (at);

-- Every exchange with the gateway about a payment, for ninety days. Bodies only (shortened), never a header. As the other logs, it is
-- partitioned by week, and old rows leave with their partition (src/db/retention/partitions.ts): deleting them made pruning slower with
-- every round. The key of a partitioned table contains the time.
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
  PRIMARY KEY (payment_id, id, at)
) PARTITION BY RANGE (at);
CREATE TABLE gateway_calls_default PARTITION OF gateway_calls DEFAULT;
CREATE TRIGGER gateway_calls_leave_with_their_partition BEFORE DELETE ON gateway_calls EXECUTE FUNCTION refuse_delete();

-- Payments that partners were notified about as taking long. A row goes when they are notified of the end.
CREATE TABLE long_payments (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  payment_id uuid NOT NULL,
  PRIMARY KEY (partner_id, mode, payment_id)
);

-- Quotes whose rate holds until a payment uses it or it expires; see docs/internals/quotes.md. Terms never change.
CREATE TABLE locked_quotes (
  id uuid PRIMARY KEY,
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  amount_kopecks bigint NOT NULL CHECK (amount_kopecks > 0),
  micro_usdt bigint NOT NULL CHECK (micro_usdt > 0),
  -- The rate of partners at that time less `spread_bps`.
  rate_e4 bigint NOT NULL CHECK (rate_e4 > 0),
  rate_id bigint NOT NULL,
  spread_bps int NOT NULL CHECK (spread_bps >= 0),
  locked_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- The last payment that was opened with it. If that one was rejected, the quote can be used again.
  payment_id uuid
) WITH (fillfactor = 80);
CREATE INDEX locked_quotes_by_expiry ON locked_quotes (expires_at);
CREATE UNIQUE INDEX locked_quotes_by_payment ON locked_quotes (payment_id) WHERE payment_id IS NOT NULL;

-- Those that no payment has used, expired ones included.
CREATE VIEW unused_quotes AS
  SELECT q.id, q.partner_id, q.mode, q.micro_usdt, q.expires_at FROM locked_quotes q
   WHERE q.payment_id IS NULL
      OR EXISTS (SELECT FROM payments p
                  WHERE p.partner_id = q.partner_id AND p.mode = q.mode AND p.id = q.payment_id AND p.rejected);


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
  differences jsonb,
  -- False: there were more differences than a run keeps. Then it ends no alarm, and the next run starts where it did.
  is_complete boolean NOT NULL DEFAULT true
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
  operation_number text,
  PRIMARY KEY (run_id, order_id, payment)
);

-- What SBP calls a payment, for accountants: see docs/internals/reports.md. It is not a column of payments, since it can become
-- known after the payment ended, also after its month was archived, and must never hold back the money of its payment.
CREATE TABLE operation_numbers (
  payment_id uuid PRIMARY KEY,
  operation_number text NOT NULL
);
CREATE TRIGGER operation_numbers_are_append_only BEFORE UPDATE OR DELETE ON operation_numbers
  EXECUTE FUNCTION refuse_change();
CREATE TRIGGER operation_numbers_are_not_truncated BEFORE TRUNCATE ON operation_numbers EXECUTE FUNCTION refuse_change();
ALTER TABLE operation_numbers ENABLE ALWAYS TRIGGER operation_numbers_are_append_only;
ALTER TABLE operation_numbers ENABLE ALWAYS TRIGGER operation_numbers_are_not_truncated;


-- Refunds: see docs/internals/refunds.md

CREATE TYPE refund_verdict AS ENUM (
  'booked', 'known', 'conflict', 'no_payment', 'not_paid_yet', 'not_paid', 'too_much', 'reference_taken');

-- Refunds of paid orders, as the payment gateway lists them, and those of test payments, which partners ask for; see
-- docs/internals/refunds.md. A row is written once, in the transaction that books it, and stays: its refund is never booked again.
CREATE TABLE refunds (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  payment_id uuid NOT NULL,
  -- The payment gateway's own id; of a test payment `test:`, the partner and its reference.
  refund_id text PRIMARY KEY,
  amount_kopecks bigint NOT NULL CHECK (amount_kopecks > 0),
  micro_usdt bigint NOT NULL CHECK (micro_usdt >= 0),
  -- What has been refunded of the payment, this refund included: the body of its event is made of it, and never changes.
  total_kopecks bigint NOT NULL,
  total_micro_usdt bigint NOT NULL,
  -- None if the refund is worth less than a millionth of a USDT.
  entry_no bigint,
  -- From the numbers of `events`, so that the events of a partner have one order.
  event_id bigint NOT NULL,
  -- When the payment gateway made it.
  refunded_at timestamptz NOT NULL,
  booked_at timestamptz NOT NULL,
  CONSTRAINT refunds_of_the_gateway_are_live CHECK (mode = 'live' OR refund_id LIKE 'test:%'),
  CONSTRAINT refunds_are_part_of_their_total CHECK (total_kopecks >= amount_kopecks AND total_micro_usdt >= micro_usdt),
  CONSTRAINT refunds_have_an_entry CHECK ((entry_no IS NULL) = (micro_usdt = 0))
);
-- Two refunds of one payment never start from the same total. The last total of a payment is read along it.
CREATE UNIQUE INDEX refunds_of_a_payment ON refunds (payment_id, total_kopecks);
CREATE UNIQUE INDEX refunds_by_event ON refunds (partner_id, mode, event_id);
CREATE UNIQUE INDEX refunds_by_entry ON refunds (partner_id, mode, entry_no);
CREATE INDEX refunds_by_time ON refunds (refunded_at);
CREATE TRIGGER refunds_are_append_only BEFORE UPDATE OR DELETE ON refunds EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refunds_are_not_truncated BEFORE TRUNCATE ON refunds EXECUTE FUNCTION refuse_change();
ALTER TABLE refunds ENABLE ALWAYS TRIGGER refunds_are_append_only;
ALTER TABLE refunds ENABLE ALWAYS TRIGGER refunds_are_not_truncated;


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
CREATE TRIGGER events_are_append_only BEFORE UPDATE ON events EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_are_not_truncated BEFORE TRUNCATE ON events EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_leave_for_the_archive AFTER DELETE ON events REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_unarchived();
ALTER TABLE events ENABLE ALWAYS TRIGGER events_are_append_only;
ALTER TABLE events ENABLE ALWAYS TRIGGER events_are_not_truncated;
ALTER TABLE events ENABLE ALWAYS TRIGGER events_leave_for_the_archive;

-- Where partners receive events.
CREATE TABLE endpoints (
  endpoint_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  -- The webhook of the contract, with the UUID of its partner: it always gets the events of the contract, of both modes.
  is_first boolean NOT NULL GENERATED ALWAYS AS (endpoint_id = partner_id) STORED,
  -- Null: both.
  mode mode,
  -- Of the partner and mode. The first endpoint is number 1 in both.
  number int NOT NULL CONSTRAINT endpoints_are_five CHECK (number BETWEEN 1 AND 5),
  url text NOT NULL,
  -- Encrypted with a key derived from SECRET_KEY. After a rotation the old secret signs too, until old_secret_until.
  secret bytea NOT NULL,
  old_secret bytea,
  old_secret_until timestamptz,
  -- The kinds of events that it gets.
  events text[] NOT NULL,
  -- Whether requests are also signed with the partner's Ed25519 key.
  ed25519 boolean NOT NULL DEFAULT false,
  -- The last attempt was slow and failed: the next ones run where they do not delay other partners.
  hanging boolean NOT NULL DEFAULT false,
  -- Events given up in a row, with no delivery in between. Three suspend sending: the circuit breaker of webhooks.
  given_up int NOT NULL DEFAULT 0,
  suspended_at timestamptz,
  -- Events up to this one arrived while sending was suspended; they are sent one after the other.
  kept_until bigint,
  -- The process that sends to this endpoint. No other process does until leased_until, unless the holder dies.
  lease_holder int,
  leased_until timestamptz,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  CONSTRAINT endpoints_have_a_number UNIQUE (partner_id, mode, number),
  CONSTRAINT endpoints_are_first_in_both_modes CHECK (is_first = (mode IS NULL) AND is_first = (number = 1)),
  CONSTRAINT endpoints_ask_for_known_events CHECK (
    cardinality(events) > 0 AND events <@ ARRAY['payment.succeeded', 'payment.failed', 'payment.refunded']
    AND (NOT is_first OR events @> ARRAY['payment.succeeded', 'payment.failed'])),
  CONSTRAINT endpoints_have_an_end_for_the_old_secret CHECK ((old_secret IS NULL) = (old_secret_until IS NULL))
);

-- A row for each event and endpoint to which it is not delivered yet; failed_at is set when it was given up.
CREATE TABLE deliveries (
  endpoint_id uuid NOT NULL,
  event_id bigint NOT NULL,
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  payment_id uuid NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL,
  failed_at timestamptz,
  -- Test mode only: since when the event is held back so that another one is sent first.
  held_at timestamptz,
  PRIMARY KEY (endpoint_id, event_id)
) WITH (fillfactor = 75);
CREATE INDEX deliveries_due ON deliveries (endpoint_id, next_at, event_id) WHERE failed_at IS NULL;
CREATE INDEX deliveries_given_up ON deliveries (failed_at) WHERE failed_at IS NOT NULL;
CREATE INDEX deliveries_held ON deliveries (endpoint_id) WHERE held_at IS NOT NULL;
-- The console lists the deliveries of all partners, newest event first. Those that failed have an index of their own: a suspended
-- endpoint may have a million pending ones in front of them. It has few that failed, since sending is suspended after three. New
-- events have the highest ids, so an insert always goes to the last page.
CREATE INDEX deliveries_by_event ON deliveries (event_id);
CREATE INDEX deliveries_failed_by_event ON deliveries (event_id) WHERE failed_at IS NOT NULL;
-- Those of an endpoint are resent all at once; there are few of them.
CREATE INDEX deliveries_failed_of_endpoint ON deliveries (endpoint_id, event_id) WHERE failed_at IS NOT NULL;

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
  endpoint_id uuid NOT NULL,
  -- The beginning of an answer that did not accept the event; at most 4 KiB are read of it.
  response_body text,
  PRIMARY KEY (partner_id, id, at)
) PARTITION BY RANGE (at);
CREATE TABLE webhook_attempts_default PARTITION OF webhook_attempts DEFAULT;
-- From an event to its attempts. It grows at its end.
CREATE INDEX webhook_attempts_by_event ON webhook_attempts (event_id);
CREATE TRIGGER webhook_attempts_leave_with_their_partition BEFORE DELETE ON webhook_attempts EXECUTE FUNCTION refuse_delete();

-- Roots of the Ed25519 keys that sign webhooks for endpoints which ask for it: every partner has a key of its own in each mode,
-- derived from them. They stay, so that old signatures can be verified. The newest one that is old enough signs: receivers can
-- read a new key before it is used.
CREATE TABLE signing_keys (
  id uuid PRIMARY KEY,
  private_key bytea NOT NULL,
  created_at timestamptz NOT NULL,
  signs_from timestamptz NOT NULL
);


-- Notices and the chat bot

-- The outbox of notices to partners, for thirty days, sent or not; the bot marks what it has sent.
CREATE TABLE partner_notices (
  id bigint GENERATED ALWAYS AS IDENTITY,
  -- Null: all partners.
  partner_id uuid,
  kind text NOT NULL,
  details jsonb NOT NULL,
  at timestamptz NOT NULL,
  sent_at timestamptz,
  PRIMARY KEY (id, at)
) PARTITION BY RANGE (at);
CREATE TABLE partner_notices_default PARTITION OF partner_notices DEFAULT;
CREATE INDEX partner_notices_unsent ON partner_notices (id) WHERE sent_at IS NULL;
-- A notice of a kind that was sent recently waits and is sent together with others.
CREATE INDEX partner_notices_sent ON partner_notices (sent_at) WHERE sent_at IS NOT NULL;
CREATE TRIGGER partner_notices_leave_with_their_partition BEFORE DELETE ON partner_notices EXECUTE FUNCTION refuse_delete();

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

-- People are listed in this order.
CREATE TYPE member_role AS ENUM ('viewer', 'accountant', 'payer', 'developer', 'owner');

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
  address text NOT NULL,
  -- Set if the attempt counts only against the allowance of this device.
  device_hash text
);
CREATE INDEX login_attempts_by_device ON login_attempts (device_hash, at) WHERE device_hash IS NOT NULL;
CREATE INDEX login_attempts_by_name ON login_attempts (name_hash, address, at);
CREATE INDEX login_attempts_by_address ON login_attempts (address, at);
CREATE INDEX login_attempts_by_time ON login_attempts (at);

-- Browsers and addresses from which an operator has signed in: their attempts have an allowance of their own.
CREATE TABLE known_clients (
  operator_id uuid NOT NULL REFERENCES operators,
  kind text NOT NULL CHECK (kind IN ('device', 'address')),
  -- Hash of the token in the device cookie, or the address (for IPv6 its /64 network).
  value text NOT NULL,
  last_sign_in_at timestamptz NOT NULL,
  PRIMARY KEY (operator_id, kind, value)
);

-- Four-eyes approval: what one operator asked for and another has to approve.
CREATE TABLE operator_requests (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('resolve', 'credit', 'thresholds', 'release', 'deposit')),
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
CREATE INDEX test_refusals_by_time ON test_refusals (at);

-- Old test data is pruned (prune_test_data). The entries of a test account go from the first on, and the checkpoint takes
-- their place: the number of the last one, its time, and the balances after it. There is no mode: a live account has none.
CREATE TABLE test_checkpoints (
  partner_id uuid PRIMARY KEY REFERENCES partners,
  entry_no bigint NOT NULL,
  at timestamptz NOT NULL,
  topup bigint NOT NULL,
  treasury bigint NOT NULL,
  available bigint NOT NULL,
  held bigint NOT NULL,
  settled bigint NOT NULL,
  last_event_id bigint,
  CONSTRAINT test_checkpoints_never_below_zero CHECK (available >= 0 AND held >= 0 AND settled >= 0),
  CONSTRAINT test_checkpoints_sum_to_zero CHECK (topup + treasury + available + held + settled = 0)
);
COMMENT ON COLUMN test_checkpoints.last_event_id IS 'the newest pruned event: a reader that has it has missed none';
CREATE TRIGGER test_checkpoints_are_proven BEFORE INSERT OR UPDATE ON test_checkpoints
  FOR EACH ROW EXECUTE FUNCTION prove_checkpoint();
CREATE TRIGGER test_checkpoints_stay BEFORE DELETE ON test_checkpoints EXECUTE FUNCTION refuse_change();
CREATE TRIGGER test_checkpoints_are_not_truncated BEFORE TRUNCATE ON test_checkpoints EXECUTE FUNCTION refuse_change();
ALTER TABLE test_checkpoints ENABLE ALWAYS TRIGGER test_checkpoints_are_proven;
ALTER TABLE test_checkpoints ENABLE ALWAYS TRIGGER test_checkpoints_stay;
ALTER TABLE test_checkpoints ENABLE ALWAYS TRIGGER test_checkpoints_are_not_truncated;


-- Deposits of USDT on chain

-- One permanent address per partner and chain. The path says how it is derived from the extended public key, which is a
-- function of the partner's id: it is the same after rows were lost.
CREATE TABLE deposit_addresses (
  partner_id uuid NOT NULL,
  chain text NOT NULL,
  address text NOT NULL,
  -- As it stands in the logs of the chain: 20 bytes in hexadecimal.
  account text NOT NULL,
  path text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT deposit_addresses_pkey PRIMARY KEY (partner_id, chain)
);
CREATE UNIQUE INDEX deposit_addresses_of_one_partner ON deposit_addresses (chain, account);
CREATE TRIGGER deposit_addresses_are_permanent BEFORE UPDATE OR DELETE ON deposit_addresses EXECUTE FUNCTION refuse_change();
CREATE TRIGGER deposit_addresses_are_not_truncated BEFORE TRUNCATE ON deposit_addresses EXECUTE FUNCTION refuse_change();
ALTER TABLE deposit_addresses ENABLE ALWAYS TRIGGER deposit_addresses_are_permanent;
ALTER TABLE deposit_addresses ENABLE ALWAYS TRIGGER deposit_addresses_are_not_truncated;

-- How far each chain is booked. The cursor moves in the transaction of the credits of its blocks.
CREATE TABLE deposit_chains (
  chain text NOT NULL PRIMARY KEY,
  cursor_block bigint NOT NULL,
  cursor_hash text NOT NULL,
  cursor_time timestamptz NOT NULL,
  final_block bigint NOT NULL,
  checked_at timestamptz NOT NULL,
  lease_holder integer,
  lease_until timestamptz NOT NULL,
  CONSTRAINT deposit_cursor_is_final CHECK (cursor_block <= final_block)
);

CREATE TABLE deposits (
  partner_id uuid NOT NULL,
  id uuid NOT NULL,
  chain text NOT NULL,
  transaction text NOT NULL,
  log_index integer NOT NULL,
  block_number bigint NOT NULL,
  block_hash text NOT NULL,
  sender text NOT NULL,
  -- In the smallest units of the token, and what of it is beyond six places.
  units numeric(78) NOT NULL CHECK (units > 0),
  rest_units numeric(78) NOT NULL CHECK (rest_units >= 0),
  micro_usdt bigint NOT NULL CHECK (micro_usdt >= 0),
  state text NOT NULL CHECK (state IN ('pending', 'dropped', 'screening', 'accumulating', 'credited', 'held', 'rejected')),
  seen_at timestamptz NOT NULL,
  final_at timestamptz,
  credited_at timestamptz,
  -- Of the ledger entry: its own, or that of the deposit with which the sum reached the smallest amount.
  credit_reference text,
  -- Why an operator has to decide. It stays when the deposit is decided on.
  held_for text CHECK (held_for IN ('amount', 'reference', 'screening', 'no_answer', 'late', 'unread')),
  -- When the answer of the screening service was booked.
  screened_at timestamptz,
  decided_at timestamptz,
  decision_reason text,
  -- A deposit is known by its transaction, its partner and its place among the transfers of that transaction to the partner.
  -- The number of a log does not say that: nodes count logs in the block or in the transaction.
  ordinal integer NOT NULL,
  -- Of its own credit. The small ones of a sum are credited with the reference of the last.
  reference text NOT NULL GENERATED ALWAYS AS ('deposit:' || chain || ':' || transaction || ':' || ordinal) STORED,
  PRIMARY KEY (partner_id, id),
  CONSTRAINT deposits_are_final_before_credit CHECK ((state IN ('pending', 'dropped')) = (final_at IS NULL)),
  CONSTRAINT credited_deposits_have_a_reference
    CHECK ((state = 'credited') = (credited_at IS NOT NULL) AND (state = 'credited') = (credit_reference IS NOT NULL)),
  CONSTRAINT rejected_deposits_were_decided_on
    CHECK (state <> 'rejected' OR (decided_at IS NOT NULL AND decision_reason IS NOT NULL))
);
CREATE UNIQUE INDEX deposits_once_per_transfer ON deposits (chain, transaction, partner_id, ordinal);
CREATE INDEX deposits_not_final ON deposits (chain, block_number) WHERE state = 'pending';
-- Whose deposits are due is asked in every round.
CREATE INDEX deposits_accumulating ON deposits (chain, partner_id) WHERE state = 'accumulating';
CREATE INDEX deposits_screening ON deposits (chain, id) WHERE state = 'screening';
CREATE INDEX deposits_held ON deposits (chain, id) WHERE state = 'held';
-- The console lists deposits of all partners, newest first.
CREATE INDEX deposits_by_id ON deposits (id);

-- Blocks whose transfers to a partner no node could give. An operator may have credited them by hand, so what is found
-- there later is held.
CREATE TABLE deposit_gaps (
  chain text NOT NULL,
  block_number bigint NOT NULL,
  partner_id uuid NOT NULL,
  found_at timestamptz NOT NULL,
  PRIMARY KEY (chain, block_number, partner_id)
);


-- Portal

-- Ways to sign in to the portal: links of the bot, and the signed data of Mini Apps that was used. Only hashes are stored:
-- somebody who can read this table cannot sign in.
CREATE TABLE portal_links (
  hash bytea PRIMARY KEY,
  -- A person of Telegram.
  user_id bigint NOT NULL,
  name text NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz
);
CREATE INDEX portal_links_of_user ON portal_links (user_id);

-- A session is of a person, not of a partner: teams and roles are read for every request.
CREATE TABLE portal_sessions (
  id uuid PRIMARY KEY,
  user_id bigint NOT NULL,
  name text NOT NULL,
  token_hash bytea NOT NULL UNIQUE,
  address text NOT NULL,
  user_agent text NOT NULL,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  ended_at timestamptz,
  -- Chosen at sign-in: the session does not end with the day.
  remembered boolean NOT NULL DEFAULT false
);
CREATE INDEX portal_sessions_of_user ON portal_sessions (user_id) WHERE ended_at IS NULL;


-- Reports: see docs/internals/reports.md

-- Partners that get the report of each finished month.
CREATE TABLE monthly_reports (
  partner_id uuid PRIMARY KEY REFERENCES partners (id),
  -- The first day of the month whose report comes next, and when: both by the calendar of the partner.
  month date NOT NULL,
  due_at timestamptz NOT NULL
);
CREATE INDEX monthly_reports_due ON monthly_reports (due_at);

-- E-mail addresses that get the report of a finished month.
CREATE TABLE report_addresses (
  partner_id uuid NOT NULL REFERENCES partners (id),
  address text NOT NULL,
  language text NOT NULL CHECK (language IN ('ru', 'en')),
  -- It was sent to the address; who reads it there gives it to the owner. Null: confirmed.
  code text,
  code_expires_at timestamptz NOT NULL,
  wrong_codes int NOT NULL DEFAULT 0,
  PRIMARY KEY (partner_id, address)
);

-- The outbox of mails: due again after a failure, or when the lease of a process that died runs out.
CREATE TABLE report_mails (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id uuid NOT NULL,
  address text NOT NULL,
  -- Null: the mail with the code.
  month date,
  due_at timestamptz NOT NULL,
  tries int NOT NULL DEFAULT 0,
  FOREIGN KEY (partner_id, address) REFERENCES report_addresses ON DELETE CASCADE
);
CREATE INDEX report_mails_due ON report_mails (due_at);
CREATE UNIQUE INDEX report_mails_once ON report_mails (partner_id, address, month);


-- Histories of the database

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
  -- For an hour after it has opened the list of the bank side is read on, and an order that no payment here knows closes it again.
  listed_at timestamptz,
  listed_to timestamptz,
  closed_at timestamptz,
  CONSTRAINT incarnations_have_a_known_cause
    CHECK (cause IN ('first_start', 'promotion', 'restore', 'copy')),
  CONSTRAINT incarnations_go_on_after_the_last_event CHECK (next_event_id > last_event_id)
);
CREATE UNIQUE INDEX incarnations_recover_one_at_a_time ON incarnations ((opened_at IS NULL)) WHERE opened_at IS NULL;
COMMENT ON COLUMN incarnations.place IS 'Of the files of the embedded server; NULL for an outside one';
COMMENT ON COLUMN incarnations.is_synchronous IS 'No acknowledged commit can be missing';
COMMENT ON COLUMN incarnations.listed_at IS 'When the last complete list of orders began';
COMMENT ON COLUMN incarnations.listed_to IS 'Creation of the newest order of the lists so far, by the bank side''s clock';
COMMENT ON COLUMN incarnations.closed_at IS 'When a foreign order closed it again; NULL: never';

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
COMMENT ON COLUMN stray_orders.reference IS 'The payment is rebuilt from it as soon as that is possible';
COMMENT ON COLUMN stray_orders.qrc_id IS 'NULL: unknown, so no payment may be accepted at all';

CREATE TYPE recovery_verdict AS ENUM
  ('recovered', 'known', 'no_account', 'key_taken', 'qr_in_flight', 'insufficient_balance');


-- Archive

-- Closed months are moved from payments, events and entries to an archive with the same columns (`kopeck archive`). It has
-- a partition per month, so that a month can be moved to another tablespace, detached or dropped. The live tables are not
-- partitioned: their unique indexes are guards of money, and hold only within one partition.
--
-- Payments and events are in the month of the payment's id, entries in the month of their own time.
CREATE TABLE payments_archive (LIKE payments INCLUDING CONSTRAINTS) PARTITION BY RANGE (id);
ALTER TABLE payments_archive ADD CONSTRAINT payments_archive_pkey PRIMARY KEY (partner_id, mode, id);
CREATE INDEX payments_archive_by_amount ON payments_archive (amount_kopecks, id) WHERE NOT rejected;
CREATE INDEX payments_archive_by_external_id ON payments_archive (external_id, id, partner_id)
  WHERE external_id IS NOT NULL AND NOT rejected;
CREATE INDEX payments_archive_by_key ON payments_archive (idempotency_key, id) WHERE NOT rejected;
CREATE INDEX payments_archive_by_qr ON payments_archive (qrc_id, id) WHERE NOT rejected;
CREATE INDEX payments_archive_by_recipient ON payments_archive (lower(recipient) COLLATE "C", id) WHERE NOT rejected;
CREATE INDEX payments_archive_failed ON payments_archive (partner_id, mode, id)
  WHERE error_code IS NOT NULL AND NOT rejected;
CREATE INDEX payments_archive_newest ON payments_archive (mode, id) WHERE NOT rejected;

CREATE TABLE events_archive (LIKE events) PARTITION BY RANGE (payment_id);
ALTER TABLE events_archive ADD CONSTRAINT events_archive_pkey PRIMARY KEY (partner_id, mode, id, payment_id);
CREATE INDEX events_archive_by_payment ON events_archive (payment_id);

CREATE TABLE entries_archive (LIKE entries INCLUDING CONSTRAINTS) PARTITION BY RANGE (created_at);
ALTER TABLE entries_archive ADD CONSTRAINT entries_archive_pkey PRIMARY KEY (partner_id, mode, entry_no, created_at);
CREATE INDEX entries_archive_by_payment ON entries_archive (payment_id) WHERE payment_id IS NOT NULL;
CREATE INDEX entries_archive_from_outside ON entries_archive (partner_id, mode, from_account, entry_no)
  WHERE payment_id IS NULL;
CREATE INDEX entries_archive_of_releases ON entries_archive (payment_id, partner_id, mode)
  WHERE from_account = 'held' AND to_account = 'available';

-- What must be known forever, even when a month has been dropped: nothing is paid and nothing is credited a second time.
CREATE TABLE archived_keys (
  idempotency_key text NOT NULL,
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  payment_id uuid NOT NULL,
  PRIMARY KEY (idempotency_key, partner_id, mode)
);
-- A key leaves with its payment, also when the month of the payment was dropped.
CREATE INDEX archived_keys_of_test_payments ON archived_keys (payment_id) WHERE mode = 'test';
CREATE TABLE archived_references (
  reference text NOT NULL,
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  micro_usdt bigint NOT NULL,
  PRIMARY KEY (reference, partner_id, mode)
);

-- dropped_at is set by hand when the payments and events of a month are detached or dropped.
CREATE TABLE archived_months (
  month date NOT NULL,
  dropped_at timestamptz,
  PRIMARY KEY (month)
);
-- What was moved: the number of rows and the sum of their digests, for `kopeck ledger verify`. A read of recent rows finds
-- here that it need not look into the archive: with 36 months that takes ten times as long.
CREATE TABLE archive_sums (
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  month date NOT NULL,
  kind text NOT NULL,
  rows bigint NOT NULL,
  digest numeric NOT NULL,
  last_event_id bigint,
  PRIMARY KEY (partner_id, mode, month, kind),
  CONSTRAINT archive_sums_kind_check CHECK (kind IN ('payments', 'events', 'entries'))
);

CREATE VIEW all_payments AS SELECT * FROM payments UNION ALL SELECT * FROM payments_archive;
CREATE VIEW all_events AS SELECT * FROM events UNION ALL SELECT * FROM events_archive;
CREATE VIEW all_entries AS SELECT * FROM entries UNION ALL SELECT * FROM entries_archive;

-- Payments to which nothing will happen any more: they have ended, their event was delivered, or given up and forgotten,
-- and the bot has sent the notice of their end.
CREATE VIEW archivable_payments AS
  SELECT p.* FROM payments p
   WHERE p.status <> 'processing'
     AND NOT EXISTS (SELECT FROM events e JOIN deliveries d ON d.partner_id = e.partner_id AND d.event_id = e.id
                      WHERE e.payment_id = p.id)
     AND NOT EXISTS (SELECT FROM long_payments l
                      WHERE l.partner_id = p.partner_id AND l.mode = p.mode AND l.payment_id = p.id);

-- The archive is append-only, but for test rows up to a checkpoint. Row by row, since only such a trigger is copied to every partition.
CREATE TRIGGER payments_archive_is_append_only BEFORE UPDATE OR DELETE ON payments_archive
  FOR EACH ROW EXECUTE FUNCTION refuse_unpruned('payments');
ALTER TABLE payments_archive ENABLE ALWAYS TRIGGER payments_archive_is_append_only;
CREATE TRIGGER events_archive_is_append_only BEFORE UPDATE OR DELETE ON events_archive
  FOR EACH ROW EXECUTE FUNCTION refuse_unpruned('events');
ALTER TABLE events_archive ENABLE ALWAYS TRIGGER events_archive_is_append_only;
CREATE TRIGGER entries_archive_is_append_only BEFORE UPDATE OR DELETE ON entries_archive
  FOR EACH ROW EXECUTE FUNCTION refuse_unpruned('entries');
ALTER TABLE entries_archive ENABLE ALWAYS TRIGGER entries_archive_is_append_only;
CREATE TRIGGER archived_keys_are_append_only BEFORE UPDATE OR DELETE ON archived_keys
  FOR EACH ROW EXECUTE FUNCTION refuse_unpruned('keys');
ALTER TABLE archived_keys ENABLE ALWAYS TRIGGER archived_keys_are_append_only;
CREATE TRIGGER archived_references_are_append_only BEFORE UPDATE OR DELETE ON archived_references
  FOR EACH ROW EXECUTE FUNCTION refuse_unpruned('references');
ALTER TABLE archived_references ENABLE ALWAYS TRIGGER archived_references_are_append_only;
CREATE TRIGGER archived_keys_are_not_truncated BEFORE TRUNCATE ON archived_keys EXECUTE FUNCTION refuse_change();
ALTER TABLE archived_keys ENABLE ALWAYS TRIGGER archived_keys_are_not_truncated;
CREATE TRIGGER archived_references_are_not_truncated BEFORE TRUNCATE ON archived_references EXECUTE FUNCTION refuse_change();
ALTER TABLE archived_references ENABLE ALWAYS TRIGGER archived_references_are_not_truncated;

-- Everything that may be delivered: the ends of payments, and their refunds.
CREATE VIEW deliverable_events AS
  SELECT partner_id, mode, id, payment_id, at, NULL::text AS refund_id FROM all_events
  UNION ALL
  SELECT partner_id, mode, event_id, payment_id, booked_at, refund_id FROM refunds;
