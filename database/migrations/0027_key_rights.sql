-- See docs/internals/keys.md. Keys from before may do everything and never expire.
-- allow constraint-reads-table: the table has few rows per partner
ALTER TABLE api_keys
  ADD COLUMN label text,
  ADD COLUMN scopes text[] NOT NULL DEFAULT '{read,pay}',
  ADD COLUMN expires_at timestamptz,
  ADD COLUMN max_kopecks bigint,
  ADD COLUMN daily_kopecks bigint,
  -- Of a key that was rolled: the key that takes its place. Of that one: the first key of the row of rolls, whose turnover it
  -- continues.
  ADD COLUMN rolled_to text,
  ADD COLUMN turnover_of text,
  ADD CONSTRAINT keys_have_known_scopes CHECK (scopes <@ '{read,pay}' AND cardinality(scopes) > 0),
  ADD CONSTRAINT key_limits_are_positive CHECK (max_kopecks > 0 AND daily_kopecks > 0);

DROP TRIGGER api_keys_announce ON api_keys;
CREATE TRIGGER api_keys_announce AFTER DELETE OR UPDATE OF revoked_at, allowed_addresses, expires_at ON api_keys
  FOR EACH STATEMENT EXECUTE FUNCTION announce_access_change();

-- What a key with a daily limit has spent on a day (UTC): its processing and succeeded payments.
CREATE TABLE key_turnovers (
  key_id text NOT NULL,
  day date NOT NULL,
  kopecks bigint NOT NULL CONSTRAINT key_turnovers_are_not_negative CHECK (kopecks >= 0),
  CONSTRAINT key_turnovers_pkey PRIMARY KEY (key_id, day)
) WITH (fillfactor = 50);

-- Payments in these sums whose outcome was not known when their key was last used: what fails is taken out with its next use.
CREATE TABLE key_unsettled (
  key_id text NOT NULL,
  payment_id uuid NOT NULL,
  day date NOT NULL,
  kopecks bigint NOT NULL,
  CONSTRAINT key_unsettled_pkey PRIMARY KEY (key_id, payment_id)
) WITH (fillfactor = 50);
