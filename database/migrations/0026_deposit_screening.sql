-- A final deposit may wait for the answer of the screening service, and one that is held is decided on by operators.
-- allow column-with-constraint: no released version fills the table of deposits
-- allow constraint-reads-table: the same, and operators make few requests
-- allow index-blocks-writes: no released version fills the table of deposits
ALTER TABLE deposits DROP CONSTRAINT deposits_state_check,
  ADD CONSTRAINT deposits_state_check
    CHECK (state IN ('pending', 'dropped', 'screening', 'accumulating', 'credited', 'held', 'rejected')),
  -- Why an operator has to decide. It stays when the deposit is decided on.
  ADD COLUMN held_for text CHECK (held_for IN ('amount', 'reference', 'screening', 'no_answer')),
  -- When the answer of the screening service was booked.
  ADD COLUMN screened_at timestamptz,
  ADD COLUMN decided_at timestamptz,
  ADD COLUMN decision_reason text,
  ADD CONSTRAINT rejected_deposits_were_decided_on
    CHECK (state <> 'rejected' OR (decided_at IS NOT NULL AND decision_reason IS NOT NULL));
UPDATE deposits SET held_for = CASE WHEN micro_usdt > 1000000000000000 THEN 'amount' ELSE 'reference' END
 WHERE state = 'held';
CREATE INDEX deposits_screening ON deposits (chain, id) WHERE state = 'screening';
CREATE INDEX deposits_held ON deposits (chain, id) WHERE state = 'held';
-- The console lists deposits of all partners, newest first.
CREATE INDEX deposits_by_id ON deposits (id);

-- Deciding on a held deposit may need four-eyes approval too.
ALTER TABLE operator_requests DROP CONSTRAINT operator_requests_kind_check,
  ADD CONSTRAINT operator_requests_kind_check CHECK (kind IN ('resolve', 'credit', 'thresholds', 'release', 'deposit'));
