-- Every partner has its own signing key in each mode, derived from a row of this table: a row has no public key any more.
-- allow breaks-previous-release: no release has this table
ALTER TABLE signing_keys DROP COLUMN public_key;
