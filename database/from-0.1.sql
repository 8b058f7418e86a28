-- Brings a database of version 0.1.0, with all of its forty migrations, to the schema of 0001_schema.sql. After it `migrate` records
-- that one instead of the forty, and applies the functions in the same transaction.
DO $$
BEGIN
  -- The lock of the heartbeat of a process. It would go on with functions that are gone.
  IF EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
              WHERE l.locktype = 'advisory' AND l.granted AND l.mode = 'ExclusiveLock' AND l.classid = 1802465381 AND l.objsubid = 2) THEN
    RAISE EXCEPTION 'processes of version 0.1.0 are still connected, and cannot run beside this version: stop all of them first'
      USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
END $$;

-- The functions that write events write their deliveries.
DROP TRIGGER events_are_delivered ON events;

-- One function opens payments of all kinds.
DROP FUNCTION payments_open_quoted, payments_open_limited, payments_open_singly, payments_open, payments_recover;
DROP TYPE payment_opening, opening_verdict;
CREATE TYPE payment_opening AS (
  partner_id uuid, mode mode, id uuid, idempotency_key text, request_hash bytea, external_id text,
  qrc_id text, qr_url text, fingerprint text, recipient text, amount_kopecks bigint, micro_usdt bigint,
  rate_e4 bigint, rate_id bigint, rate_stale_at timestamptz, metadata text, next_at timestamptz, lease_holder int,
  outcome payment_status, error_code text, folded_name text, folded_id text, key_id text, key_daily_kopecks bigint, quote_id uuid
);
CREATE TYPE opening_verdict AS ENUM (
  'opened', 'known', 'no_account', 'maintenance', 'rate_changed', 'recipient_blocked',
  'quote_not_found', 'quote_mode_mismatch', 'quote_used', 'quote_expired', 'quote_amount_mismatch',
  'rate_unavailable', 'duplicate_qr_in_flight', 'gateway_busy', 'daily_limit_exceeded', 'insufficient_balance',
  'key_daily_limit_exceeded'
);

-- Test payments can be refunded too.
DROP FUNCTION payments_refund;
ALTER TABLE refunds DROP CONSTRAINT refunds_are_live,
  ADD CONSTRAINT refunds_of_the_gateway_are_live CHECK (mode = 'live' OR refund_id LIKE 'test:%');
DO $$
DECLARE
  of_entries text;
BEGIN
  FOREACH of_entries IN ARRAY ARRAY['entries', 'entries_archive'] LOOP
    EXECUTE format($ddl$
      ALTER TABLE %I DROP CONSTRAINT entries_are_of_a_known_kind, ADD CONSTRAINT entries_are_of_a_known_kind CHECK (CASE
        WHEN payment_id IS NOT NULL THEN reference IS NULL AND (
             (from_account = 'available' AND to_account = 'held')
          OR (from_account = 'held' AND to_account = 'settled')
          OR (from_account = 'held' AND to_account = 'available'))
        ELSE reference IS NOT NULL AND to_account = 'available' AND (
             from_account IN ('topup', 'treasury')
          OR (from_account = 'settled' AND reference LIKE 'refund:%%'))
      END)$ddl$, of_entries);
  END LOOP;
END $$;

COMMENT ON COLUMN process_beats.key_ids IS 'The secret keys that the process has';

-- One table of endpoints, and one of what is not delivered to them yet.
DROP FUNCTION deliveries_end, further_deliveries_end, notify_of_endpoint;
CREATE TABLE endpoints (
  endpoint_id uuid PRIMARY KEY,
  partner_id uuid NOT NULL REFERENCES partners (id),
  is_first boolean NOT NULL GENERATED ALWAYS AS (endpoint_id = partner_id) STORED,
  mode mode,
  number int NOT NULL CONSTRAINT endpoints_are_five CHECK (number BETWEEN 1 AND 5),
  url text NOT NULL,
  secret bytea NOT NULL,
  old_secret bytea,
  old_secret_until timestamptz,
  events text[] NOT NULL,
  ed25519 boolean NOT NULL DEFAULT false,
  hanging boolean NOT NULL DEFAULT false,
  given_up int NOT NULL DEFAULT 0,
  suspended_at timestamptz,
  kept_until bigint,
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
INSERT INTO endpoints (endpoint_id, partner_id, mode, number, url, secret, old_secret, old_secret_until, events, ed25519, hanging,
                       given_up, suspended_at, kept_until, lease_holder, leased_until, created_at, changed_at)
  SELECT partner_id, partner_id, NULL, 1, url, secret, old_secret, old_secret_until,
         ARRAY['payment.succeeded', 'payment.failed'] || extra_events, ed25519, hanging,
         given_up, suspended_at, kept_until, lease_holder, leased_until, created_at, changed_at FROM webhooks
  UNION ALL
  SELECT endpoint_id, partner_id, mode, number, url, secret, old_secret, old_secret_until, events, ed25519, hanging,
         given_up, suspended_at, kept_until, lease_holder, leased_until, created_at, changed_at FROM further_webhooks;

DROP VIEW archivable_payments;
-- Copied and not renamed: the names of its indexes are needed.
CREATE TABLE first_deliveries AS TABLE deliveries;
DROP TABLE deliveries;
CREATE TABLE deliveries (
  endpoint_id uuid NOT NULL,
  event_id bigint NOT NULL,
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  payment_id uuid NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL,
  failed_at timestamptz,
  held_at timestamptz,
  PRIMARY KEY (endpoint_id, event_id)
) WITH (fillfactor = 75);
INSERT INTO deliveries (endpoint_id, event_id, partner_id, mode, payment_id, attempts, next_at, failed_at, held_at)
  SELECT partner_id, event_id, partner_id, mode, payment_id, attempts, next_at, failed_at, held_at FROM first_deliveries
  UNION ALL
  SELECT endpoint_id, event_id, partner_id, mode, payment_id, attempts, next_at, failed_at, held_at FROM further_deliveries;
DROP TABLE first_deliveries, further_deliveries, webhooks, further_webhooks;
CREATE INDEX deliveries_due ON deliveries (endpoint_id, next_at, event_id) WHERE failed_at IS NULL;
CREATE INDEX deliveries_given_up ON deliveries (failed_at) WHERE failed_at IS NOT NULL;
CREATE INDEX deliveries_held ON deliveries (endpoint_id) WHERE held_at IS NOT NULL;
CREATE INDEX deliveries_by_event ON deliveries (event_id);
CREATE INDEX deliveries_failed_by_event ON deliveries (event_id) WHERE failed_at IS NOT NULL;
CREATE VIEW archivable_payments AS
  SELECT p.* FROM payments p
   WHERE p.status <> 'processing'
     AND NOT EXISTS (SELECT FROM events e JOIN deliveries d ON d.partner_id = e.partner_id AND d.event_id = e.id
                      WHERE e.payment_id = p.id)
     AND NOT EXISTS (SELECT FROM long_payments l
                      WHERE l.partner_id = p.partner_id AND l.mode = p.mode AND l.payment_id = p.id);

UPDATE webhook_attempts SET endpoint_id = partner_id WHERE endpoint_id IS NULL;
ALTER TABLE webhook_attempts ALTER COLUMN endpoint_id SET NOT NULL;

-- Columns, indexes and tables that 0.1.0 did not have.
ALTER TYPE member_role ADD VALUE 'accountant' BEFORE 'developer';
ALTER TYPE member_role ADD VALUE 'payer' BEFORE 'developer';
ALTER TABLE partners ADD COLUMN time_zone text NOT NULL DEFAULT 'Europe/Moscow',
  ADD COLUMN by_hand_max_kopecks bigint NOT NULL DEFAULT 1500000,
  ADD COLUMN by_hand_daily_kopecks bigint NOT NULL DEFAULT 5000000,
  ADD COLUMN bodies_logged_until timestamptz;
ALTER TABLE portal_sessions ADD COLUMN remembered boolean NOT NULL DEFAULT false;
ALTER TABLE webhook_attempts ADD COLUMN response_body text;
ALTER TABLE listed_orders ADD COLUMN operation_number text;
ALTER TABLE payments SET (fillfactor = 45);
CREATE INDEX alarms_by_kind ON alarms (kind, id);
CREATE INDEX alarms_by_subject ON alarms (subject, id);
CREATE INDEX alarms_by_time ON alarms (first_at);
CREATE INDEX deliveries_failed_of_endpoint ON deliveries (endpoint_id, event_id) WHERE failed_at IS NOT NULL;
CREATE TABLE partner_contacts (
  partner_id uuid PRIMARY KEY REFERENCES partners (id),
  contacts text NOT NULL,
  notes text NOT NULL,
  version int NOT NULL
);
CREATE TABLE api_request_bodies (
  request_id uuid NOT NULL,
  at timestamptz NOT NULL,
  partner_id uuid NOT NULL,
  request_body text,
  response_body text
) PARTITION BY RANGE (at);
CREATE TABLE api_request_bodies_default PARTITION OF api_request_bodies DEFAULT;
CREATE INDEX api_request_bodies_by_id ON api_request_bodies (request_id);
CREATE TABLE operation_numbers (
  payment_id uuid PRIMARY KEY,
  operation_number text NOT NULL
);
CREATE TRIGGER operation_numbers_are_append_only BEFORE UPDATE OR DELETE ON operation_numbers
  EXECUTE FUNCTION refuse_change();
CREATE TRIGGER operation_numbers_are_not_truncated BEFORE TRUNCATE ON operation_numbers EXECUTE FUNCTION refuse_change();
ALTER TABLE operation_numbers ENABLE ALWAYS TRIGGER operation_numbers_are_append_only;
ALTER TABLE operation_numbers ENABLE ALWAYS TRIGGER operation_numbers_are_not_truncated;
CREATE TABLE monthly_reports (
  partner_id uuid PRIMARY KEY REFERENCES partners (id),
  month date NOT NULL,
  due_at timestamptz NOT NULL
);
CREATE INDEX monthly_reports_due ON monthly_reports (due_at);
CREATE TABLE report_addresses (
  partner_id uuid NOT NULL REFERENCES partners (id),
  address text NOT NULL,
  language text NOT NULL CHECK (language IN ('ru', 'en')),
  code text,
  code_expires_at timestamptz NOT NULL,
  wrong_codes int NOT NULL DEFAULT 0,
  PRIMARY KEY (partner_id, address)
);
CREATE TABLE report_mails (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id uuid NOT NULL,
  address text NOT NULL,
  month date,
  due_at timestamptz NOT NULL,
  tries int NOT NULL DEFAULT 0,
  FOREIGN KEY (partner_id, address) REFERENCES report_addresses ON DELETE CASCADE
);
CREATE INDEX report_mails_due ON report_mails (due_at);
CREATE UNIQUE INDEX report_mails_once ON report_mails (partner_id, address, month);
