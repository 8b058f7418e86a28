-- The yardstick: the least that a ledger of held and settled payments needs, for one partner in one mode per account. Each
-- payment is two calls of a function, each in its own transaction.

CREATE TABLE accounts (
  partner integer NOT NULL,
  mode smallint NOT NULL,
  available bigint NOT NULL CHECK (available >= 0),
  held bigint NOT NULL DEFAULT 0,
  settled bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (partner, mode)
);

-- status: 0 is open, 1 is settled.
CREATE TABLE payments (
  id uuid PRIMARY KEY,
  partner integer NOT NULL,
  mode smallint NOT NULL,
  idempotency_key text NOT NULL,
  request_hash bytea NOT NULL,
  qrc_id text NOT NULL,
  status smallint NOT NULL DEFAULT 0,
  status_detail smallint,
  external_id text,
  recipient text,
  amount_kopecks bigint NOT NULL,
  micro_usdt bigint NOT NULL,
  rate numeric NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  settled_at timestamptz,
  metadata jsonb NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX payments_once_per_key ON payments (partner, mode, idempotency_key);
CREATE UNIQUE INDEX payments_open_once_per_code ON payments (qrc_id) WHERE status = 0;
CREATE INDEX payments_by_partner ON payments (partner, mode, id);

-- kind: 1 is a hold, 2 is a settle.
CREATE TABLE entries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payment uuid NOT NULL,
  partner integer NOT NULL,
  kind smallint NOT NULL,
  micro_usdt bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX entries_by_partner ON entries (partner, id);

CREATE TABLE events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  payment uuid NOT NULL,
  partner integer NOT NULL,
  kind smallint NOT NULL,
  next_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  delivered_at timestamptz
);
CREATE INDEX events_due ON events (next_at) WHERE delivered_at IS NULL;

CREATE FUNCTION reserve(
  p_partner integer, p_key text, p_qrc_id text, p_kopecks bigint, p_micro_usdt bigint, p_rate numeric, p_metadata jsonb
) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  payment_id uuid := uuidv7();
BEGIN
  UPDATE accounts SET available = available - p_micro_usdt, held = held + p_micro_usdt
   WHERE partner = p_partner AND mode = 0 AND available >= p_micro_usdt;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the account has too little';
  END IF;
  INSERT INTO payments (id, partner, mode, idempotency_key, request_hash, qrc_id, recipient, amount_kopecks, micro_usdt, rate,
                        metadata)
  VALUES (payment_id, p_partner, 0, p_key, sha256(p_key::bytea), p_qrc_id, 'Test recipient', p_kopecks, p_micro_usdt, p_rate,
          p_metadata);
  INSERT INTO entries (payment, partner, kind, micro_usdt) VALUES (payment_id, p_partner, 1, -p_micro_usdt);
  RETURN payment_id;
END $$;

CREATE FUNCTION settle(p_payment uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  paid record;
BEGIN
  UPDATE payments SET status = 1, settled_at = clock_timestamp() WHERE id = p_payment AND status = 0
  RETURNING partner, micro_usdt INTO paid;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the payment is not open';
  END IF;
  UPDATE accounts SET held = held - paid.micro_usdt, settled = settled + paid.micro_usdt
   WHERE partner = paid.partner AND mode = 0;
  INSERT INTO entries (payment, partner, kind, micro_usdt) VALUES (p_payment, paid.partner, 2, paid.micro_usdt);
  INSERT INTO events (payment, partner, kind) VALUES (p_payment, paid.partner, 1);
END $$;
