-- each shard
-- Quotes whose rate holds until a payment uses it or it expires; see docs/internals/quotes.md. Terms never change.
CREATE TABLE locked_quotes (
  id uuid NOT NULL,
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  amount_kopecks bigint NOT NULL CHECK (amount_kopecks > 0),
  micro_usdt bigint NOT NULL CHECK (micro_usdt > 0),
  -- The rate of partners at that time less `spread_bps`.
  rate_e4 bigint NOT NULL CHECK (rate_e4 > 0),
  rate_id bigint NOT NULL,
  spread_bps int NOT NULL CHECK (spread_bps >= 0),
  locked_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- The last payment that was opened with it. If that one was rejected, the quote can be used again.
  payment_id uuid,
  CONSTRAINT locked_quotes_pkey PRIMARY KEY (id)
) WITH (fillfactor = 80);
CREATE INDEX locked_quotes_by_expiry ON locked_quotes (expires_at);
CREATE UNIQUE INDEX locked_quotes_by_payment ON locked_quotes (payment_id) WHERE payment_id IS NOT NULL;

-- Those that no payment has used, expired ones included.
CREATE VIEW unused_quotes AS
  SELECT q.id, q.partner_id, q.mode, q.micro_usdt, q.expires_at FROM locked_quotes q
   WHERE q.payment_id IS NULL
      OR EXISTS (SELECT FROM payments p
                  WHERE p.partner_id = q.partner_id AND p.mode = q.mode AND p.id = q.payment_id AND p.rejected);
