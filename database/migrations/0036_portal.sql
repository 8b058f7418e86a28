-- Ways to sign in to the portal: links of the bot, and the signed data of Mini Apps that was used. Only hashes are stored:
-- somebody who can read this table cannot sign in.
CREATE TABLE portal_links (
  hash bytea NOT NULL,
  -- A person of Telegram.
  user_id bigint NOT NULL,
  name text NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  CONSTRAINT portal_links_pkey PRIMARY KEY (hash)
);
CREATE INDEX portal_links_of_user ON portal_links (user_id);

-- A session is of a person, not of a partner: teams and roles are read for every request.
CREATE TABLE portal_sessions (
  id uuid NOT NULL,
  user_id bigint NOT NULL,
  name text NOT NULL,
  token_hash bytea NOT NULL,
  address text NOT NULL,
  user_agent text NOT NULL,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  ended_at timestamptz,
  CONSTRAINT portal_sessions_pkey PRIMARY KEY (id),
  CONSTRAINT portal_sessions_token_hash_key UNIQUE (token_hash)
);
CREATE INDEX portal_sessions_of_user ON portal_sessions (user_id) WHERE ended_at IS NULL;
