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

COMMENT ON COLUMN process_beats.key_ids IS 'The secret keys that the process has';
