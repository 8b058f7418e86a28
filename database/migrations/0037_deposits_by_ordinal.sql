-- A deposit is known by its transaction, its partner and its place among the transfers of that transaction to the partner.
-- The number of a log does not say that: nodes count logs in the block or in the transaction.
-- allow column-not-null: no released version fills the table of deposits
-- allow column-rewrites-table: no released version fills it
-- allow constraint-reads-table: no released version fills it
-- allow index-blocks-writes: no released version fills it
ALTER TABLE deposits ADD COLUMN ordinal integer;
UPDATE deposits d SET ordinal = o.ordinal
  FROM (SELECT partner_id, id, row_number() OVER (PARTITION BY chain, transaction, partner_id ORDER BY log_index) - 1 AS ordinal
          FROM deposits) AS o
 WHERE o.partner_id = d.partner_id AND o.id = d.id;
ALTER TABLE deposits ALTER COLUMN ordinal SET NOT NULL,
  -- Of its own credit. The small ones of a sum are credited with the reference of the last.
  ADD COLUMN reference text NOT NULL GENERATED ALWAYS AS ('deposit:' || chain || ':' || transaction || ':' || ordinal) STORED,
  DROP CONSTRAINT deposits_held_for_check,
  ADD CONSTRAINT deposits_held_for_check
    CHECK (held_for IN ('amount', 'reference', 'screening', 'no_answer', 'late', 'unread'));
DROP INDEX deposits_once_per_log;
CREATE UNIQUE INDEX deposits_once_per_transfer ON deposits (chain, transaction, partner_id, ordinal);
-- Blocks whose transfers to a partner no node could give. An operator may have credited them by hand, so what is found
-- there later is held.
CREATE TABLE deposit_gaps (
  chain text NOT NULL,
  block_number bigint NOT NULL,
  partner_id uuid NOT NULL,
  found_at timestamptz NOT NULL,
  CONSTRAINT deposit_gaps_pkey PRIMARY KEY (chain, block_number, partner_id)
);
-- Whose deposits are due is asked in every round.
DROP INDEX deposits_accumulating;
CREATE INDEX deposits_accumulating ON deposits (chain, partner_id) WHERE state = 'accumulating';
