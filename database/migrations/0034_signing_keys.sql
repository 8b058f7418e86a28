-- Ed25519 keys that sign webhooks for endpoints which ask for it. They stay, so that old signatures can be verified. The newest one
-- that is old enough signs: receivers can read a new key before it is used.
CREATE TABLE signing_keys (
  id uuid NOT NULL,
  public_key bytea NOT NULL CHECK (octet_length(public_key) = 32),
  private_key bytea NOT NULL,
  created_at timestamptz NOT NULL,
  signs_from timestamptz NOT NULL,
  CONSTRAINT signing_keys_pkey PRIMARY KEY (id)
);
