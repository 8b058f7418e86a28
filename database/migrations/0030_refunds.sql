-- See docs/internals/refunds.md.
CREATE TYPE refund_verdict AS ENUM (
  'booked', 'known', 'conflict', 'no_payment', 'not_paid_yet', 'not_paid', 'too_much', 'reference_taken');

-- When refunds were last read, up to which one, and when all of the last weeks were. Refunds from before `refunds_from` are not
-- booked by themselves: operators may have credited them by hand.
ALTER TABLE service ADD COLUMN refunds_from timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN refunds_asked_at timestamptz,
  ADD COLUMN refunds_read_to timestamptz,
  ADD COLUMN refunds_swept_at timestamptz;
