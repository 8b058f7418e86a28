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
INSERT INTO secret_keys (id, fingerprint, is_first)
SELECT left(secret_key_fingerprint, 8), secret_key_fingerprint, true FROM service WHERE secret_key_fingerprint IS NOT NULL;

ALTER TABLE api_keys ADD COLUMN hash_key text;
COMMENT ON COLUMN api_keys.hash_key IS 'The secret key under which the hash was made; NULL: the first';

ALTER TABLE process_beats ADD COLUMN key_ids text[], ADD COLUMN sealing_key text;
COMMENT ON COLUMN process_beats.key_ids IS 'The secret keys that the process has; NULL: a version that reports none';
COMMENT ON COLUMN process_beats.sealing_key IS 'The one with which it seals';
