-- One permanent address per partner and chain. The path says how it is derived from the extended public key, which is a
-- function of the partner's id: it is the same after rows were lost.
CREATE TABLE deposit_addresses (
  partner_id uuid NOT NULL,
  chain text NOT NULL,
  address text NOT NULL,
  -- As it stands in the logs of the chain: 20 bytes in hexadecimal.
  account text NOT NULL,
  path text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT deposit_addresses_pkey PRIMARY KEY (partner_id, chain)
);
CREATE UNIQUE INDEX deposit_addresses_of_one_partner ON deposit_addresses (chain, account);
CREATE TRIGGER deposit_addresses_are_permanent BEFORE UPDATE OR DELETE ON deposit_addresses
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER deposit_addresses_are_not_truncated BEFORE TRUNCATE ON deposit_addresses
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE deposit_addresses ENABLE ALWAYS TRIGGER deposit_addresses_are_permanent;
ALTER TABLE deposit_addresses ENABLE ALWAYS TRIGGER deposit_addresses_are_not_truncated;

-- How far each chain is booked. The cursor moves in the transaction of the credits of its blocks.
CREATE TABLE deposit_chains (
  chain text NOT NULL PRIMARY KEY,
  cursor_block bigint NOT NULL,
  cursor_hash text NOT NULL,
  cursor_time timestamptz NOT NULL,
  final_block bigint NOT NULL,
  checked_at timestamptz NOT NULL,
  lease_holder integer,
  lease_until timestamptz NOT NULL,
  CONSTRAINT deposit_cursor_is_final CHECK (cursor_block <= final_block)
);

CREATE TABLE deposits (
  partner_id uuid NOT NULL,
  id uuid NOT NULL,
  chain text NOT NULL,
  transaction text NOT NULL,
  log_index integer NOT NULL,
  block_number bigint NOT NULL,
  block_hash text NOT NULL,
  sender text NOT NULL,
  -- In the smallest units of the token, and what of it is beyond six places.
  units numeric(78) NOT NULL CHECK (units > 0),
  rest_units numeric(78) NOT NULL CHECK (rest_units >= 0),
  micro_usdt bigint NOT NULL CHECK (micro_usdt >= 0),
  state text NOT NULL CHECK (state IN ('pending', 'dropped', 'accumulating', 'credited', 'held')),
  seen_at timestamptz NOT NULL,
  final_at timestamptz,
  credited_at timestamptz,
  -- Of the ledger entry: its own, or that of the deposit with which the sum reached the smallest amount.
  credit_reference text,
  CONSTRAINT deposits_pkey PRIMARY KEY (partner_id, id),
  CONSTRAINT deposits_are_final_before_credit CHECK ((state IN ('pending', 'dropped')) = (final_at IS NULL)),
  CONSTRAINT credited_deposits_have_a_reference
    CHECK ((state = 'credited') = (credited_at IS NOT NULL) AND (state = 'credited') = (credit_reference IS NOT NULL))
);
CREATE UNIQUE INDEX deposits_once_per_log ON deposits (chain, transaction, log_index);
CREATE INDEX deposits_not_final ON deposits (chain, block_number) WHERE state = 'pending';
CREATE INDEX deposits_accumulating ON deposits (partner_id, chain) WHERE state = 'accumulating';
