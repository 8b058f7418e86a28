-- The name and the id of a recipient that was not checked yet, folded as in blocked_recipients. Then the transaction that opens
-- the payment also checks that nothing stops payments and that the rate is the newest. Null: all of that was checked before.
ALTER TYPE payment_opening
  ADD ATTRIBUTE unchecked_name text,
  ADD ATTRIBUTE unchecked_id text;

-- A check found something: nothing was opened, and the caller has to find out what it was.
ALTER TYPE opening_verdict ADD VALUE 'objection';
