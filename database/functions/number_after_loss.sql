-- Where numbers go on after commits were lost. `last` is the last one on record, `first_free` stands for the present moment.
-- Both ways depend on it: two histories that go on from the same `last`, one after the other, do not meet. The second way is
-- for a loss soon after another one, when the numbers are ahead of the time already.
CREATE OR REPLACE FUNCTION number_after_loss(last bigint, first_free bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN first_free > last + 1000000 THEN first_free ELSE last + 1000000 + first_free END;
