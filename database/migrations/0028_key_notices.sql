-- Of the notices before the expiry of a key, the last that was written or is not needed: 7 or 1 days before.
ALTER TABLE api_keys ADD COLUMN expiry_noticed_days int;

-- From where each key was used; the team is notified of a new one. IPv6 addresses by their network of 64 bits.
CREATE TABLE key_addresses (
  key_id text NOT NULL,
  address text NOT NULL,
  first_used_at timestamptz NOT NULL,
  CONSTRAINT key_addresses_pkey PRIMARY KEY (key_id, address)
);
