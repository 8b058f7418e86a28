-- each shard
-- Refunds of paid orders, as the payment gateway lists them; see docs/internals/refunds.md. A row is written once, in the
-- transaction that books it, and stays: its refund is never booked again.
CREATE TABLE refunds (
  partner_id uuid NOT NULL,
  mode mode NOT NULL CONSTRAINT refunds_are_live CHECK (mode = 'live'),
  payment_id uuid NOT NULL,
  -- The payment gateway's own id.
  refund_id text NOT NULL,
  amount_kopecks bigint NOT NULL CHECK (amount_kopecks > 0),
  micro_usdt bigint NOT NULL CHECK (micro_usdt >= 0),
  -- What has been refunded of the payment, this refund included: the body of its event is made of it, and never changes.
  total_kopecks bigint NOT NULL,
  total_micro_usdt bigint NOT NULL,
  -- None if the refund is worth less than a millionth of a USDT.
  entry_no bigint,
  -- From the numbers of `events`, so that the events of a partner have one order.
  event_id bigint NOT NULL,
  -- When the payment gateway made it.
  refunded_at timestamptz NOT NULL,
  booked_at timestamptz NOT NULL,
  CONSTRAINT refunds_pkey PRIMARY KEY (refund_id),
  CONSTRAINT refunds_are_part_of_their_total CHECK (total_kopecks >= amount_kopecks AND total_micro_usdt >= micro_usdt),
  CONSTRAINT refunds_have_an_entry CHECK ((entry_no IS NULL) = (micro_usdt = 0))
);
-- Two refunds of one payment never start from the same total. The last total of a payment is read along it.
CREATE UNIQUE INDEX refunds_of_a_payment ON refunds (payment_id, total_kopecks);
CREATE UNIQUE INDEX refunds_by_event ON refunds (partner_id, mode, event_id);
CREATE UNIQUE INDEX refunds_by_entry ON refunds (partner_id, mode, entry_no);
CREATE INDEX refunds_by_time ON refunds (refunded_at);
CREATE TRIGGER refunds_are_append_only BEFORE UPDATE OR DELETE ON refunds
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER refunds_are_not_truncated BEFORE TRUNCATE ON refunds
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE refunds ENABLE ALWAYS TRIGGER refunds_are_append_only;
ALTER TABLE refunds ENABLE ALWAYS TRIGGER refunds_are_not_truncated;

-- The entry of a refund has a reference, as a credit has: it is unique over live and archived entries.
ALTER TABLE entries DROP CONSTRAINT entries_are_of_a_known_kind,
  ADD CONSTRAINT entries_are_of_a_known_kind CHECK (CASE
    WHEN payment_id IS NOT NULL THEN reference IS NULL AND (
         (from_account = 'available' AND to_account = 'held')
      OR (from_account = 'held' AND to_account = 'settled')
      OR (from_account = 'held' AND to_account = 'available'))
    ELSE reference IS NOT NULL AND to_account = 'available' AND (
         from_account IN ('topup', 'treasury')
      OR (from_account = 'settled' AND mode = 'live' AND reference LIKE 'refund:%'))
    END) NOT VALID;

ALTER TABLE entries_archive DROP CONSTRAINT entries_are_of_a_known_kind,
  ADD CONSTRAINT entries_are_of_a_known_kind CHECK (CASE
    WHEN payment_id IS NOT NULL THEN reference IS NULL AND (
         (from_account = 'available' AND to_account = 'held')
      OR (from_account = 'held' AND to_account = 'settled')
      OR (from_account = 'held' AND to_account = 'available'))
    ELSE reference IS NOT NULL AND to_account = 'available' AND (
         from_account IN ('topup', 'treasury')
      OR (from_account = 'settled' AND mode = 'live' AND reference LIKE 'refund:%'))
    END) NOT VALID;

-- Kinds of events beyond those of the contract that the endpoint wants.
ALTER TABLE webhooks ADD COLUMN extra_events text[] NOT NULL DEFAULT '{}',
  ADD CONSTRAINT webhooks_ask_for_known_events CHECK (extra_events <@ ARRAY['payment.refunded']) NOT VALID;

-- Everything that may be delivered: the ends of payments, and their refunds.
CREATE VIEW deliverable_events AS
  SELECT partner_id, mode, id, payment_id, at, NULL::text AS refund_id FROM all_events
  UNION ALL
  SELECT partner_id, mode, event_id, payment_id, booked_at, refund_id FROM refunds;
