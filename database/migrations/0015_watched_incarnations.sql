-- For an hour after an incarnation has opened the list of the bank side is read on, and an order that no payment here knows
-- closes it again. See docs/internals/lost-history.md.
ALTER TABLE incarnations
  ADD COLUMN listed_at timestamptz,
  ADD COLUMN listed_to timestamptz,
  ADD COLUMN closed_at timestamptz;
COMMENT ON COLUMN incarnations.listed_at IS 'When the last complete list of orders began';
COMMENT ON COLUMN incarnations.listed_to IS 'Creation of the newest order of the lists so far, by the bank side''s clock';
COMMENT ON COLUMN incarnations.closed_at IS 'When a foreign order closed it again; NULL: never';

-- Those of long ago are not watched.
UPDATE incarnations SET listed_at = now() WHERE opened_at IS NOT NULL;
