-- each shard
-- Endpoints of a partner beside its first one, which stays in `webhooks`: processes of the previous release know only that one.
-- See docs/internals/webhooks.md.
CREATE TABLE further_webhooks (
  endpoint_id uuid NOT NULL,
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  -- The first endpoint is number 1 in both modes.
  number int NOT NULL CONSTRAINT further_webhooks_are_four CHECK (number BETWEEN 2 AND 5),
  url text NOT NULL,
  secret bytea NOT NULL,
  old_secret bytea,
  old_secret_until timestamptz,
  -- The kinds of events that it gets.
  events text[] NOT NULL,
  -- Whether requests are also signed with the service's Ed25519 key.
  ed25519 boolean NOT NULL DEFAULT false,
  hanging boolean NOT NULL DEFAULT false,
  given_up int NOT NULL DEFAULT 0,
  suspended_at timestamptz,
  kept_until bigint,
  lease_holder int,
  leased_until timestamptz,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  CONSTRAINT further_webhooks_pkey PRIMARY KEY (endpoint_id),
  CONSTRAINT further_webhooks_have_a_number UNIQUE (partner_id, mode, number),
  CONSTRAINT further_webhooks_ask_for_known_events CHECK (
    cardinality(events) > 0 AND events <@ ARRAY['payment.succeeded', 'payment.failed', 'payment.refunded']),
  CONSTRAINT further_webhooks_have_an_end_for_the_old_secret CHECK ((old_secret IS NULL) = (old_secret_until IS NULL))
);

-- The outbox of these endpoints: a row for each event and endpoint.
CREATE TABLE further_deliveries (
  endpoint_id uuid NOT NULL,
  event_id bigint NOT NULL,
  partner_id uuid NOT NULL,
  mode mode NOT NULL,
  payment_id uuid NOT NULL,
  attempts int NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL,
  failed_at timestamptz,
  held_at timestamptz,
  CONSTRAINT further_deliveries_pkey PRIMARY KEY (endpoint_id, event_id)
) WITH (fillfactor = 75);
CREATE INDEX further_deliveries_due ON further_deliveries (endpoint_id, next_at, event_id) WHERE failed_at IS NULL;
CREATE INDEX further_deliveries_by_event ON further_deliveries (event_id);
CREATE INDEX further_deliveries_given_up ON further_deliveries (failed_at) WHERE failed_at IS NOT NULL;
CREATE INDEX further_deliveries_held ON further_deliveries (endpoint_id) WHERE held_at IS NOT NULL;

-- Null: the first endpoint.
ALTER TABLE webhook_attempts ADD COLUMN endpoint_id uuid;

ALTER TABLE webhooks ADD COLUMN ed25519 boolean NOT NULL DEFAULT false;

-- A payment stays until every endpoint has its event, or has failed for good.
CREATE OR REPLACE VIEW archivable_payments AS
  SELECT partner_id, mode, id, status, status_detail, rejected, idempotency_key, request_hash, external_id, qrc_id, qr_url,
         fingerprint, recipient, amount_kopecks, micro_usdt, rate_e4, rate_id, metadata, gateway_order_id, error_code,
         created_at, settled_at
    FROM payments p
   WHERE p.status <> 'processing'
     AND NOT EXISTS (SELECT FROM events e JOIN deliveries d ON d.partner_id = e.partner_id AND d.event_id = e.id
                      WHERE e.payment_id = p.id)
     AND NOT EXISTS (SELECT FROM events e JOIN further_deliveries d ON d.partner_id = e.partner_id AND d.event_id = e.id
                      WHERE e.payment_id = p.id)
     AND NOT EXISTS (SELECT FROM long_payments l
                      WHERE l.partner_id = p.partner_id AND l.mode = p.mode AND l.payment_id = p.id);
