-- People who look after the service in the console.

CREATE TABLE operators (
  id uuid PRIMARY KEY,
  -- In lower case: by this name they sign in, and stand in the audit.
  name text NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9.-]{0,38}[a-z0-9]$'),
  role text NOT NULL CHECK (role IN ('viewer', 'support', 'finance', 'admin')),
  created_at timestamptz NOT NULL,
  disabled_at timestamptz,
  -- Null until they have used their link; and again after a reset.
  password_hash text,
  -- Sealed; made with the link.
  totp_secret bytea,
  -- Of the last code that was taken: none is taken twice. Null: they have never been here.
  totp_last_step bigint,
  -- The open link to set both, of which only a hash is kept.
  setup_hash bytea UNIQUE,
  setup_expires_at timestamptz,
  CHECK ((setup_hash IS NULL) = (setup_expires_at IS NULL)),
  CHECK (password_hash IS NULL OR totp_secret IS NOT NULL)
);

-- Only a hash of the token is kept: who can read this table cannot act as anybody in it.
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

-- Sign-ins that failed or are under way. What was typed as a name may be anything, so it is kept as a hash.
CREATE TABLE login_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  name_hash bytea NOT NULL,
  address text NOT NULL
);
CREATE INDEX login_attempts_by_name ON login_attempts (name_hash, address, at);
CREATE INDEX login_attempts_by_address ON login_attempts (address, at);
CREATE INDEX login_attempts_by_time ON login_attempts (at);
