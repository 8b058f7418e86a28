import { type Clock, dayMs } from '../../base/clock.ts';
import { minUuidAt } from '../../base/ids.ts';
import {
  columnsOf,
  type Pool,
  type Queryable,
  readRows,
  type Statement,
  transaction,
} from '../../db/postgres/index.ts';
import { isArchiveDistributed } from './lock.ts';

/**
 * A payment rests this long after its end before it may be archived, and a month after its own end. Until then webhooks
 * may be retried, and the logs of calls and attempts are kept.
 */
export const restDays = 31;

/** The first moment of the month that this moment is in, UTC. */
const monthStart = (ms: number) => {
  const at = new Date(ms);
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1));
};

/** The latest month before which everything is closed. */
export const lastClosedBefore = (clock: Clock) => monthStart(clock.nowMs() - restDays * dayMs);

/** The first month to keep, if so many whole months before this one stay live. Months that are not closed stay in any case. */
export function dueBefore(clock: Clock, keptMonths: number): Date {
  const now = new Date(clock.nowMs());
  const kept = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - keptMonths, 1));
  const closed = lastClosedBefore(clock);
  return kept < closed ? kept : closed;
}

/** When a payment must have ended to be archived now. */
export const endedBefore = (clock: Clock) => new Date(clock.nowMs() - restDays * dayMs);

export interface MonthCount extends Record<(typeof countedOf)[number], number> {
  /** Such as '2027-01'. */
  month: string;
}

/** For one statement, which counts the rows of some accounts. */
const timeLimitMs = 3_600_000;
const accountsAtOnce = 100;

export type Account = { partner_id: string; mode: string };

/**
 * Accounts with a live payment or entry from before this moment that may be archived. Each takes two look-ups in an index. On Citus test
 * rows stay in the live tables until they are pruned: the guards of the pruning need the checkpoints of test accounts, which are not
 * on the workers.
 */
export const listDueAccounts = async (db: Queryable, before: Date) =>
  readRows<Account>(db, {
    text: `SELECT a.partner_id, a.mode FROM accounts a
            WHERE ($1 > (SELECT p.id FROM payments p WHERE p.partner_id = a.partner_id AND p.mode = a.mode
                          ORDER BY p.id LIMIT 1)
                   OR $2 > (SELECT e.created_at FROM entries e WHERE e.partner_id = a.partner_id AND e.mode = a.mode
                             ORDER BY e.entry_no LIMIT 1))
              AND (a.mode = 'live' OR NOT $3)
            ORDER BY a.partner_id, a.mode`,
    values: [minUuidAt(before.getTime()), before, await isArchiveDistributed(db)],
  });

const countedOf = ['payments', 'events', 'entries', 'bytes'] as const;

/** What can be archived of the months before this one, oldest month first. It reads the rows of these months and no others. */
export async function countArchivable(
  pool: Pool,
  clock: Clock,
  before: Date,
  signal?: AbortSignal,
): Promise<MonthCount[]> {
  const months = new Map<string, MonthCount>();
  const accounts = await listDueAccounts(pool, before);
  for (let from = 0; from < accounts.length; from += accountsAtOnce) {
    signal?.throwIfAborted();
    const counted = await countSome(pool, clock, before, accounts.slice(from, from + accountsAtOnce));
    for (const counts of counted) {
      const sum = months.get(counts.month);
      months.set(counts.month, sum ?? counts);
      if (sum) for (const what of countedOf) sum[what] += counts[what];
    }
  }
  return [...months.values()].sort((one, other) => (one.month < other.month ? -1 : 1));
}

const countSome = (pool: Pool, clock: Clock, before: Date, accounts: Account[]): Promise<MonthCount[]> =>
  transaction(pool, async tx => {
    await tx.query({ text: `SET LOCAL statement_timeout = ${timeLimitMs}` });
    const columns = columnsOf(accounts, 'partner_id', 'mode');
    const limits = await readRows<{ up_to: bigint | null }>(tx, limitsStatement(columns, before));
    return readRows<MonthCount>(
      tx,
      countStatement(clock, before, [...columns, ...columnsOf(limits, 'up_to')]),
    );
  });

/** Apart from the count: Citus calls no function that reads tables within a statement that does. */
const limitsStatement = (accounts: unknown[][], before: Date): Statement => ({
  query_timeout: timeLimitMs,
  text: `SELECT archivable_entries(a.partner_id, a.mode, $3) AS up_to
           FROM unnest($1::uuid[], $2::mode[]) WITH ORDINALITY AS a (partner_id, mode, nth) ORDER BY a.nth`,
  values: [...accounts, before],
});

const countStatement = (clock: Clock, before: Date, limits: unknown[][]): Statement => ({
  query_timeout: timeLimitMs,
  // A payment that was not rejected has one event. OFFSET 0 keeps the planner from reading all payments of all accounts.
  text: `SELECT to_char(month, 'YYYY-MM') AS month, sum(payments)::float8 AS payments, sum(events)::float8 AS events,
                sum(entries)::float8 AS entries, sum(bytes)::float8 AS bytes
           FROM (SELECT archive_month_of(p.id) AS month, count(*) AS payments,
                        count(*) FILTER (WHERE NOT p.rejected) AS events, 0 AS entries, sum(pg_column_size(p.*)) AS bytes
                   FROM unnest($3::uuid[], $4::mode[]) AS a (partner_id, mode)
                  CROSS JOIN LATERAL (SELECT * FROM archivable_payments m
                                       WHERE m.partner_id = a.partner_id AND m.mode = a.mode
                                         AND m.id < $1 AND m.settled_at < $2 OFFSET 0) AS p GROUP BY 1
                 UNION ALL
                 SELECT date_trunc('month', e.created_at AT TIME ZONE 'UTC')::date, 0, 0, count(*), sum(pg_column_size(e.*))
                   FROM unnest($3::uuid[], $4::mode[], $5::bigint[]) AS a (partner_id, mode, up_to)
                   JOIN entries e ON e.partner_id = a.partner_id AND e.mode = a.mode AND e.entry_no <= a.up_to
                  GROUP BY 1) AS counted
          WHERE NOT EXISTS (SELECT FROM archived_months m WHERE m.month = counted.month AND m.dropped_at IS NOT NULL
                               AND counted.entries = 0)
          GROUP BY counted.month ORDER BY counted.month`,
  values: [minUuidAt(before.getTime()), endedBefore(clock), ...limits],
});
