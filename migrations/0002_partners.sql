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
  CONSTRAINT max_is_not_below_min CHECK (max_kopecks >= min_kopecks)
);
COMMENT ON COLUMN partners.daily_kopecks IS 'NULL: no daily limit';

-- The key itself is not here: only the part that names it, and a hash peppered with SECRET_KEY.
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
