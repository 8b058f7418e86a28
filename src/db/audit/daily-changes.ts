import { type Clock, dayMs } from '../../base/clock.ts';
import { hasRow, type Queryable } from '../postgres/index.ts';
import { pruneOlder } from '../retention/index.ts';

/** What is counted by UTC day, and how many of it one owner may make. */
const maxPerDay = {
  /** Partners that a person has created, also those that they have left since. */
  'sign-ups': 5,
  /** Keys of a partner and mode that people created, rolled or gave other addresses: enough to roll all of them in one day. */
  keys: 50,
  /** Addresses that a partner wants to send reports to: each gets a mail. */
  'report-addresses': 10,
  /** All changes of a person: far more than anybody needs. A record of the audit log is kept without limit. */
  changes: 300,
  /** By a person, to the portal. Apart from the changes: who makes these in a stolen session must not keep its owner out. */
  'sign-ins': 300,
  /** By a person; each has its own record. */
  'payments by hand': 1_000,
} as const;

/**
 * Counts one more, in the transaction of the change itself; false if it would be too many. The row stays locked until then, so
 * the maximum holds over all processes. The day never goes back: clocks of processes differ around midnight, and each would begin
 * the day anew for the other.
 */
export const takeDailyChange = (tx: Queryable, clock: Clock, kind: keyof typeof maxPerDay, owner: string) =>
  hasRow(tx, {
    text: `INSERT INTO daily_changes AS d (owner, day, count) VALUES ($1, $2, 1)
           ON CONFLICT (owner) DO UPDATE
             SET day = greatest(d.day, excluded.day), count = CASE WHEN d.day < excluded.day THEN 1 ELSE d.count + 1 END
           WHERE d.day < excluded.day OR d.count < $3`,
    values: [`${kind} ${owner}`, new Date(clock.nowMs() - (clock.nowMs() % dayMs)), maxPerDay[kind]],
  });

export const pruneDailyChanges = (db: Queryable, clock: Clock) =>
  pruneOlder(db, clock, { table: 'daily_changes', since: 'day', keptDays: 2 });
