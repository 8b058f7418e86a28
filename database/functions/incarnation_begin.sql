-- Begins the next incarnation; see docs/internals/lost-history.md. Concurrent callers wait for each other; `expected` is the
-- number that the caller saw, and a caller that comes second gets the row that the first one made.
--
-- Numbers go on after a jump (number_after_loss); `first_free` is null only for the first incarnation of a new database, which
-- is open at once. setval() is not undone by a rollback: a repeat jumps once more, which does no harm.
CREATE OR REPLACE FUNCTION incarnation_begin(
  expected int, in_system text, in_timeline int, in_place text, in_cause text, in_certain_at timestamptz,
  in_synchronous boolean, first_free bigint, at timestamptz
) RETURNS incarnations
LANGUAGE plpgsql
AS $$
DECLARE
  -- A sequence is logged 32 numbers ahead, and commits are not in the order of their numbers: a lost event may have a lower
  -- number than the last one here.
  before_last CONSTANT bigint := 10000;
  current incarnations;
  begun incarnations;
  compared_at timestamptz;
  last_event bigint;
  next_sequence record;
  next_number bigint;
BEGIN
  LOCK TABLE incarnations IN SHARE ROW EXCLUSIVE MODE;
  SELECT * INTO current FROM incarnations ORDER BY number DESC LIMIT 1;
  IF coalesce(current.number, 0) <> expected THEN RETURN current; END IF;

  FOR next_sequence IN
    SELECT format('%I.%I', q.schemaname, q.sequencename) AS name, q.max_value, coalesce(q.last_value, 0) AS last
      FROM pg_sequences q WHERE q.schemaname = 'public'
  LOOP
    IF next_sequence.name = pg_get_serial_sequence('public.events', 'id') THEN last_event := next_sequence.last; END IF;
    CONTINUE WHEN first_free IS NULL;
    -- Sequences of type int number people's changes and processes: few.
    next_number := CASE WHEN next_sequence.max_value > 2147483647 THEN number_after_loss(next_sequence.last, first_free)
                        ELSE least(next_sequence.last + 1000, next_sequence.max_value) END;
    PERFORM setval(next_sequence.name::regclass, next_number);
  END LOOP;

  -- An incarnation that was recovering and is itself lost: what it had to find is found from its certain moment on. One that was
  -- watched has found everything up to its last complete list.
  compared_at := CASE WHEN current.opened_at IS NULL THEN current.certain_at
                      WHEN incarnation_is_watched(current) THEN coalesce(current.listed_at, current.certain_at) END;
  UPDATE incarnations SET opened_at = at WHERE opened_at IS NULL;
  INSERT INTO incarnations (number, system_identifier, timeline, place, cause, began_at, certain_at, is_synchronous,
                            last_event_id, next_event_id, opened_at)
    VALUES (expected + 1, in_system, in_timeline, in_place, in_cause, at,
            least(compared_at, in_certain_at),
            in_synchronous AND (current.number IS NULL OR current.opened_at IS NOT NULL),
            CASE WHEN first_free IS NULL THEN last_event ELSE greatest(last_event - before_last, 0) END,
            CASE WHEN first_free IS NULL THEN last_event ELSE number_after_loss(last_event, first_free) END + 1,
            CASE WHEN first_free IS NULL THEN at END)
    RETURNING * INTO begun;

  IF first_free IS NULL THEN RETURN begun; END IF;

  INSERT INTO entry_gaps (partner_id, mode, after_no, next_no, incarnation)
    SELECT a.partner_id, a.mode, a.entry_count, number_after_loss(a.entry_count, first_free) + 1, begun.number
      FROM (SELECT * FROM accounts ORDER BY partner_id, mode FOR UPDATE) AS a;
  UPDATE accounts a SET entry_count = g.next_no - 1
    FROM entry_gaps g WHERE g.incarnation = begun.number AND g.partner_id = a.partner_id AND g.mode = a.mode;
  -- A payment of the lost history may have used what stands here as unused.
  UPDATE locked_quotes SET expires_at = at WHERE expires_at > at;
  RETURN begun;
END $$;
