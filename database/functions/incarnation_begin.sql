-- Begins the next incarnation; see docs/internals/lost-history.md. Concurrent callers wait for each other; `expected` is the
-- number that the caller saw, and a caller that comes second gets the row that the first one made.
--
-- Numbers go on after a jump (number_after_loss); `first_free` is null only for the first incarnation of a new database, which
-- is open at once. setval() is not undone by a rollback: a repeat jumps once more, which does no harm.
--
-- A shard on Citus may have lost commits of its own: those after its last confirmed copies (docs/internals/shards.md).
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
  gaps event_gaps[] := '{}';
  shard record;
  node_before text;
  node_after text;
  confirmed_at timestamptz;
BEGIN
  LOCK TABLE incarnations IN SHARE ROW EXCLUSIVE MODE;
  SELECT * INTO current FROM incarnations ORDER BY number DESC LIMIT 1;
  IF coalesce(current.number, 0) <> expected THEN RETURN current; END IF;

  FOR next_sequence IN
    SELECT s.number AS shard, format('%I.%I', q.schemaname, q.sequencename) AS name, q.max_value,
           q.schemaname || '.' || q.sequencename = pg_get_serial_sequence(q.schemaname || '.events', 'id') AS is_of_events,
           -- Numbers of a shard begin after those of the shard before it.
           q.min_value - 1 AS before_first, coalesce(q.last_value, q.min_value - 1) AS last
      FROM shards s
      JOIN pg_sequences q ON q.schemaname = shard_schema(s.number)
  LOOP
    IF next_sequence.is_of_events AND next_sequence.shard = 0 THEN last_event := next_sequence.last; END IF;
    CONTINUE WHEN first_free IS NULL;
    -- Sequences of type int number people's changes and processes: few.
    next_number := CASE WHEN next_sequence.max_value > 2147483647
                        THEN next_sequence.before_first
                             + number_after_loss(next_sequence.last - next_sequence.before_first, first_free)
                        ELSE least(next_sequence.last + 1000, next_sequence.max_value) END;
    PERFORM setval(next_sequence.name::regclass, next_number);
    IF next_sequence.is_of_events AND next_sequence.shard > 0 THEN
      gaps := gaps || ROW(expected + 1, next_sequence.shard,
                          greatest(next_sequence.last - before_last, next_sequence.before_first), next_number + 1)::event_gaps;
    END IF;
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

  FOR shard IN
    SELECT shard_schema(s.number) AS schema, s.created_at FROM shards s
     WHERE to_regclass(shard_schema(s.number) || '.shard_state') IS NOT NULL ORDER BY s.number
  LOOP
    EXECUTE format('SELECT s.node, s.confirmed_at FROM %1$I.shard_state s', shard.schema) INTO node_before, confirmed_at;
    -- From the commit on, sessions of the incarnation before are refused, and nothing is opened until this one has opened.
    EXECUTE format('UPDATE %1$I.shard_state SET history = $1, node = NULL, next_node = NULL,
                           incarnation = $1, version = 0, digest = NULL, is_recovering = $2', shard.schema)
      USING begun.number, begun.opened_at IS NULL;
    EXECUTE format('SELECT s.node FROM %1$I.shard_state s', shard.schema) INTO node_after;
    UPDATE incarnations i
       SET certain_at = least(i.certain_at, greatest(confirmed_at, shard.created_at)),
           is_synchronous = i.is_synchronous AND node_before IS NOT DISTINCT FROM node_after
     WHERE i.number = begun.number RETURNING i.* INTO begun;
  END LOOP;
  IF first_free IS NULL THEN RETURN begun; END IF;
  INSERT INTO event_gaps SELECT * FROM unnest(gaps);

  FOR shard IN
    SELECT shard_schema(s.number) AS schema FROM shards s ORDER BY s.number
  LOOP
    EXECUTE format('INSERT INTO %1$I.entry_gaps (partner_id, mode, after_no, next_no, incarnation)
                      SELECT a.partner_id, a.mode, a.entry_count, number_after_loss(a.entry_count, $2) + 1, $1
                        FROM (SELECT * FROM %1$I.accounts ORDER BY partner_id, mode FOR UPDATE) AS a', shard.schema)
      USING begun.number, first_free;
    EXECUTE format('UPDATE %1$I.accounts a SET entry_count = g.next_no - 1
                      FROM %1$I.entry_gaps g WHERE g.incarnation = $1 AND g.partner_id = a.partner_id AND g.mode = a.mode',
                   shard.schema)
      USING begun.number;
    -- A payment of the lost history may have used what stands here as unused.
    EXECUTE format('UPDATE %1$I.locked_quotes SET expires_at = $1 WHERE expires_at > $1', shard.schema) USING at;
    -- On Citus each account numbers its events, within ten billion: ten a second are more than any history has given out.
    CONTINUE WHEN NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = to_regclass(shard.schema || '.accounts')
                                 AND a.attname = 'last_event_id');
    EXECUTE format('INSERT INTO %1$I.account_gaps (partner_id, mode, incarnation, last_event_id, next_event_id)
                      SELECT a.partner_id, a.mode, $1, a.last_event_id - least(a.last_event_id %% 10000000000, $3),
                             a.last_event_id - a.last_event_id %% 10000000000
                             + CASE WHEN a.last_event_id %% 10000000000 < $2 THEN $2
                                    ELSE a.last_event_id %% 10000000000 + 1000000 END + 1
                        FROM %1$I.accounts a', shard.schema)
      USING begun.number, first_free / 10000, before_last;
    EXECUTE format('UPDATE %1$I.accounts a SET last_event_id = g.next_event_id - 1
                      FROM %1$I.account_gaps g WHERE g.incarnation = $1 AND g.partner_id = a.partner_id AND g.mode = a.mode',
                   shard.schema)
      USING begun.number;
  END LOOP;
  RETURN begun;
END $$;
