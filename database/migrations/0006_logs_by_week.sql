-- Logs are partitioned by week, and old rows leave with their partition (src/db/partitions.ts). Deleting them made pruning
-- slower with every round: new rows take the place of old ones, until the BRIN index on the time matches every page.
-- The key of a partitioned table contains the time.

ALTER TABLE gateway_calls RENAME TO old_gateway_calls;
ALTER TABLE old_gateway_calls RENAME CONSTRAINT gateway_calls_pkey TO old_gateway_calls_pkey;
ALTER SEQUENCE gateway_calls_id_seq RENAME TO old_gateway_calls_id_seq;
ALTER TABLE webhook_attempts RENAME TO old_webhook_attempts;
ALTER TABLE old_webhook_attempts RENAME CONSTRAINT webhook_attempts_pkey TO old_webhook_attempts_pkey;
ALTER SEQUENCE webhook_attempts_id_seq RENAME TO old_webhook_attempts_id_seq;
ALTER TABLE partner_notices RENAME TO old_partner_notices;
ALTER TABLE old_partner_notices RENAME CONSTRAINT partner_notices_pkey TO old_partner_notices_pkey;
ALTER SEQUENCE partner_notices_id_seq RENAME TO old_partner_notices_id_seq;

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
  PRIMARY KEY (payment_id, id, at)
) PARTITION BY RANGE (at);
CREATE TABLE gateway_calls_default PARTITION OF gateway_calls DEFAULT;

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
  PRIMARY KEY (partner_id, id, at)
) PARTITION BY RANGE (at);
CREATE TABLE webhook_attempts_default PARTITION OF webhook_attempts DEFAULT;

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

-- A partition for each of the last weeks with rows; the default partition takes what a wrong clock has written.
DO $$
DECLARE
  log text;
  week timestamptz;
BEGIN
  FOREACH log IN ARRAY ARRAY['gateway_calls', 'webhook_attempts', 'partner_notices'] LOOP
    FOR week IN EXECUTE format(
      $q$SELECT DISTINCT date_bin('7 days', at, '1970-01-05 00:00:00+00') FROM old_%s
          WHERE at > now() - interval '120 days' AND at < now() + interval '14 days'$q$, log)
    LOOP
      EXECUTE format('CREATE TABLE %s_%s PARTITION OF %s FOR VALUES FROM (%L) TO (%L)',
                     log, to_char(week AT TIME ZONE 'UTC', 'YYYYMMDD'), log, week, week + interval '168 hours');
    END LOOP;
    EXECUTE format('INSERT INTO %s OVERRIDING SYSTEM VALUE TABLE old_%s', log, log);
    -- Ids go on from where they were: they are cursors of lists.
    EXECUTE format('SELECT setval(%L, last_value, is_called) FROM old_%s_id_seq', log || '_id_seq', log);
    EXECUTE format('DROP TABLE old_%s', log);
  END LOOP;
END $$;

-- From an event to its attempts. It grows at its end.
CREATE INDEX webhook_attempts_by_event ON webhook_attempts (event_id);
CREATE INDEX partner_notices_unsent ON partner_notices (id) WHERE sent_at IS NULL;
-- A notice of a kind that was sent recently waits and is sent together with others.
CREATE INDEX partner_notices_sent ON partner_notices (sent_at) WHERE sent_at IS NOT NULL;

-- Until all processes are replaced, older ones try to delete by row address, which is not unique across partitions.
CREATE FUNCTION refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'DELETE of % is refused: its rows leave with their partition', TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER gateway_calls_leave_with_their_partition BEFORE DELETE ON gateway_calls
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_delete();
CREATE TRIGGER webhook_attempts_leave_with_their_partition BEFORE DELETE ON webhook_attempts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_delete();
CREATE TRIGGER partner_notices_leave_with_their_partition BEFORE DELETE ON partner_notices
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_delete();

-- This one cannot be partitioned by time, since its key has no time. A B-tree finds old rows however often they are replaced.
DROP INDEX test_refusals_by_time;
CREATE INDEX test_refusals_by_time ON test_refusals (at);
