-- Where numbers go on after commits were lost. `last` is the last one on record, `first_free` stands for the present moment:
-- no history has given out so many by now. So numbers of a lost history are not met, nor those of another history that went
-- on from the same `last` earlier. Only if that has been overtaken, they jump by a million.
CREATE OR REPLACE FUNCTION number_after_loss(last bigint, first_free bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE
RETURN CASE WHEN first_free > last THEN first_free ELSE last + 1000000 END;
