-- The books by day, the rules of the rate, windows of maintenance, and what the console looks for.

-- No entry of an account is booked before this time: that of its last entry, or the end of the last day that was closed.
-- Entries from before there was such a rule (their count is kept) may stand a moment out of order.
ALTER TABLE accounts
  ADD COLUMN last_entry_at timestamptz NOT NULL DEFAULT '-infinity',
  ADD COLUMN unordered_entries bigint NOT NULL DEFAULT 0;
UPDATE accounts a SET last_entry_at = e.last_at, unordered_entries = a.entry_count
  FROM (SELECT partner_id, mode, max(created_at) AS last_at FROM entries GROUP BY 1, 2) AS e
 WHERE e.partner_id = a.partner_id AND e.mode = a.mode;

-- The one way to move money. Takes any number of items, gives one verdict each, in one transaction.
--
--   1. Lock every account concerned, always in the same order: two calls can wait for each other, never in a ring.
--   2. Read, in a snapshot taken after the locks, the accounts and what is known of each item.
--   3. Walk through the items, account by account; items of one payment in the order given, so that a repeat
--      within one call meets its own first. Nothing is written yet.
--   4. Append all entries and write all balances, with one statement each.
--
-- An entry is booked at `at`, or at the time of the entry before it where that is later: whoever waited for the lock
-- brings an older time along, and the books of an account never go back.
CREATE OR REPLACE FUNCTION ledger_post(
  partner_ids uuid[], modes mode[], operations ledger_operation[],
  payment_ids uuid[], refs text[], amounts bigint[], at timestamptz
) RETURNS TABLE (item bigint, verdict ledger_verdict, balance bigint)
LANGUAGE plpgsql
-- Plan once per session, not once per call (planning took 1.0 of 1.4 ms). That may be while the tables are still
-- empty, so the look-ups of entries leave the planner one way only: they are subqueries, no table is scanned, and
-- IS NOT DISTINCT FROM, which no index serves, keeps it from reading all entries of a partner by the primary key.
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  next record;
  held bigint;        -- of the payment that the walk has reached: the amount of its hold,
  ended_in account;   -- and where its settle or release went
  credited bigint;    -- of the reference that the walk has reached: the amount of its credit or grant
  book accounts;      -- the account that the walk has reached, as it will be
  source account;
  target account;
  amount bigint;
  new_entries entries[] := '{}';
  new_books accounts[] := '{}';
BEGIN
  PERFORM FROM (SELECT DISTINCT * FROM unnest(partner_ids, modes) AS k (partner_id, mode) ORDER BY 1, 2) AS k,
       LATERAL (SELECT FROM accounts a WHERE a.partner_id = k.partner_id AND a.mode = k.mode FOR UPDATE) AS a;

  FOR next IN
    SELECT i.item, i.operation, i.amount, i.payment_id, i.reference,
           min(i.item) OVER (PARTITION BY i.partner_id, i.mode, i.payment_id, i.reference) AS first_item,
           (SELECT a FROM accounts a WHERE a.partner_id = i.partner_id AND a.mode = i.mode) AS book,
           (SELECT e.micro_usdt FROM entries e WHERE e.payment_id = i.payment_id AND e.from_account = 'available'
               AND (e.partner_id, e.mode) IS NOT DISTINCT FROM (i.partner_id, i.mode)) AS held,
           (SELECT e.to_account FROM entries e WHERE e.payment_id = i.payment_id AND e.from_account = 'held'
               AND (e.partner_id, e.mode) IS NOT DISTINCT FROM (i.partner_id, i.mode)) AS ended_in,
           (SELECT e.micro_usdt FROM entries e WHERE e.reference = i.reference
               AND (e.partner_id, e.mode) IS NOT DISTINCT FROM (i.partner_id, i.mode)) AS credited
      FROM unnest(partner_ids, modes, operations, payment_ids, refs, amounts)
           WITH ORDINALITY AS i (partner_id, mode, operation, payment_id, reference, amount, item)
     ORDER BY i.partner_id, i.mode, first_item, i.item
  LOOP
    IF next.item = next.first_item THEN
      held := next.held;
      ended_in := next.ended_in;
      credited := next.credited;
    END IF;
    IF (next.book).partner_id IS DISTINCT FROM book.partner_id OR (next.book).mode IS DISTINCT FROM book.mode THEN
      IF book.partner_id IS NOT NULL THEN new_books := array_append(new_books, book); END IF;
      book := next.book;
    END IF;

    source := NULL;
    amount := next.amount;
    IF book.partner_id IS NULL THEN
      verdict := 'no_account';
    ELSIF next.operation IN ('credit', 'grant') THEN
      IF credited IS NULL THEN
        credited := amount;
        source := CASE next.operation WHEN 'credit' THEN 'topup'::account ELSE 'treasury' END;
        target := 'available';
      ELSE
        verdict := CASE WHEN credited = amount THEN 'already_done'::ledger_verdict ELSE 'conflict' END;
      END IF;
    ELSIF next.operation = 'hold' THEN
      IF ended_in IS NOT NULL THEN
        verdict := 'ended';
      ELSIF held IS NOT NULL THEN
        verdict := CASE WHEN held = amount THEN 'already_done'::ledger_verdict ELSE 'conflict' END;
      ELSIF book.available < amount THEN
        verdict := 'insufficient';
      ELSE
        held := amount;
        source := 'available';
        target := 'held';
      END IF;
    ELSE
      target := CASE next.operation WHEN 'settle' THEN 'settled'::account ELSE 'available' END;
      IF held IS NULL THEN
        verdict := 'not_held';
      ELSIF ended_in IS NOT NULL THEN
        verdict := CASE WHEN ended_in = target THEN 'already_done'::ledger_verdict ELSE 'conflict' END;
      ELSE
        amount := held;
        ended_in := target;
        source := 'held';
      END IF;
    END IF;

    IF source IS NOT NULL THEN
      verdict := 'done';
      book.entry_count := book.entry_count + 1;
      book.last_entry_at := greatest(at, book.last_entry_at);
      CASE source
        WHEN 'topup' THEN book.topup := book.topup - amount;
        WHEN 'treasury' THEN book.treasury := book.treasury - amount;
        WHEN 'available' THEN book.available := book.available - amount;
        WHEN 'held' THEN book.held := book.held - amount;
      END CASE;
      CASE target
        WHEN 'available' THEN book.available := book.available + amount;
        WHEN 'held' THEN book.held := book.held + amount;
        WHEN 'settled' THEN book.settled := book.settled + amount;
      END CASE;
      new_entries := array_append(new_entries, ROW(
        book.partner_id, book.mode, book.entry_count, source, target, amount,
        CASE source WHEN 'topup' THEN book.topup WHEN 'treasury' THEN book.treasury
                    WHEN 'available' THEN book.available WHEN 'held' THEN book.held END,
        CASE target WHEN 'available' THEN book.available WHEN 'held' THEN book.held
                    WHEN 'settled' THEN book.settled END,
        next.payment_id, next.reference, book.last_entry_at)::entries);
    END IF;

    item := next.item;
    balance := book.available;
    RETURN NEXT;
  END LOOP;
  IF book.partner_id IS NOT NULL THEN new_books := array_append(new_books, book); END IF;

  INSERT INTO entries SELECT * FROM unnest(new_entries);
  UPDATE accounts a
     SET topup = n.topup, treasury = n.treasury, available = n.available, held = n.held, settled = n.settled,
         entry_count = n.entry_count, last_entry_at = n.last_entry_at
    FROM unnest(new_books) n
   WHERE a.partner_id = n.partner_id AND a.mode = n.mode AND a.entry_count <> n.entry_count;
END $$;

-- How many entries of an account were booked before a moment. Their times never go back, so that it is found by halving:
-- twenty looks in a million, and no index by time, which every payment would pay for. Where times may be out of order, an
-- entry counts as booked no earlier than those before it.
CREATE FUNCTION ledger_entries_before(partner uuid, in_mode mode, moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
  low bigint;    -- this many were before the moment,
  high bigint;   -- and no more than this many
  middle bigint;
  first_after bigint;
BEGIN
  SELECT a.unordered_entries, a.entry_count INTO low, high
    FROM accounts a WHERE a.partner_id = partner AND a.mode = in_mode;
  IF low > 0 AND NOT EXISTS (SELECT FROM entries e WHERE e.partner_id = partner AND e.mode = in_mode
                                  AND e.entry_no = low + 1 AND e.created_at < moment) THEN
    SELECT min(e.entry_no) INTO first_after FROM entries e
     WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no <= low AND e.created_at >= moment;
    RETURN coalesce(first_after - 1, low);
  END IF;
  WHILE low < high LOOP
    middle := (low + high + 1) / 2;
    IF (SELECT e.created_at < moment FROM entries e
         WHERE e.partner_id = partner AND e.mode = in_mode AND e.entry_no = middle) THEN
      low := middle;
    ELSE
      high := middle - 1;
    END IF;
  END LOOP;
  RETURN coalesce(low, 0);
END $$;

-- What came in from outside is rare among the entries of an account, and asked for by itself.
CREATE INDEX entries_from_outside ON entries (partner_id, mode, from_account, entry_no) WHERE payment_id IS NULL;

-- How the rate is made of what the sources say. The newest row counts; before there is one, the settings do.
CREATE TABLE rate_rules (
  version int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  spread_bps int NOT NULL CHECK (spread_bps BETWEEN 0 AND 5000),
  band_bps int NOT NULL CHECK (band_bps BETWEEN 1 AND 5000),
  jump_bps int NOT NULL CHECK (jump_bps BETWEEN 1 AND 5000),
  set_by text NOT NULL,
  set_at timestamptz NOT NULL,
  reason text NOT NULL
);
CREATE TRIGGER rate_rules_are_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON rate_rules
  EXECUTE FUNCTION refuse_change();

CREATE INDEX rates_by_time ON rates (created_at, id);

-- Whoever signed up and was told no is not waiting for an answer any more.
ALTER TABLE partners ADD COLUMN live_refused_at timestamptz;

-- When no payments are accepted, without anybody switching it on or off.
CREATE TABLE maintenance_windows (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  from_at timestamptz NOT NULL,
  until_at timestamptz NOT NULL,
  planned_by text NOT NULL,
  planned_at timestamptz NOT NULL,
  cancelled_by text,
  cancelled_at timestamptz,
  CONSTRAINT maintenance_windows_end_after_they_begin CHECK (until_at > from_at)
);
CREATE INDEX maintenance_windows_to_come ON maintenance_windows (until_at) WHERE cancelled_at IS NULL;

-- Who did what: by each of what one can ask for, the newest first.
DROP INDEX audit_by_subject;
CREATE INDEX audit_by_subject ON audit (subject, at, id);
CREATE INDEX audit_by_actor ON audit (actor, at, id);
CREATE INDEX audit_by_action ON audit (action, at, id);
CREATE INDEX audit_by_time ON audit (at, id);
