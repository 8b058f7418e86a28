import type { Clock } from '../../base/clock.ts';
import { minUuidAt } from '../../base/ids.ts';
import { type Pool, type Queryable, type Statement, transaction } from '../../db/pool.ts';
import { isArchiveDistributed } from './is-distributed.ts';

const dayMs = 86_400_000;
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

/** When a payment must have ended to be archived now. */
export const endedBefore = (clock: Clock) => new Date(clock.nowMs() - restDays * dayMs);

export interface MonthCount {
  /** Such as '2027-01'. */
  month: string;
  payments: number;
  events: number;
  entries: number;
  bytes: number;
}

/** Counting reads every live row once. */
const timeLimitMs = 3_600_000;

export type Account = { partner_id: string; mode: string };

/**
 * Those whose rows are archived. On Citus test rows stay in the live tables until they are pruned: the guards of the pruning need
 * the checkpoints of test accounts, which are not on the workers.
 */
export async function listAccounts(db: Queryable, isDistributed: boolean): Promise<Account[]> {
  const { rows } = await db.query<Account>({
    text: `SELECT partner_id, mode FROM accounts ${isDistributed ? "WHERE mode = 'live'" : ''} ORDER BY partner_id, mode`,
  });
  return rows;
}

/** What can be archived of the months before this one, oldest month first. */
export function countArchivable(pool: Pool, clock: Clock, before: Date): Promise<MonthCount[]> {
  return transaction(pool, async tx => {
    await tx.query({ text: `SET LOCAL statement_timeout = ${timeLimitMs}` });
    const accounts = await listAccounts(tx, await isArchiveDistributed(tx));
    const partnerIds = accounts.map(account => account.partner_id);
    const modes = accounts.map(({ mode }) => mode);
    const limits = await tx.query<{ up_to: bigint | null }>(limitsStatement(partnerIds, modes, before));
    const upTo = limits.rows.map(({ up_to }) => up_to);
    const { rows } = await tx.query<MonthCount>(countStatement(clock, before, [partnerIds, modes, upTo]));
    return rows;
  });
}

/** Apart from the count: Citus calls no function that reads tables within a statement that does. */
const limitsStatement = (partnerIds: string[], modes: string[], before: Date): Statement => ({
  query_timeout: timeLimitMs,
  text: `SELECT archivable_entries(a.partner_id, a.mode, $3) AS up_to
           FROM unnest($1::uuid[], $2::mode[]) WITH ORDINALITY AS a (partner_id, mode, nth) ORDER BY a.nth`,
  values: [partnerIds, modes, before],
});

const countStatement = (clock: Clock, before: Date, limits: unknown[][]): Statement => ({
  query_timeout: timeLimitMs,
  // A payment that was not rejected has one event.
  text: `SELECT to_char(month, 'YYYY-MM') AS month, sum(payments)::float8 AS payments, sum(events)::float8 AS events,
                sum(entries)::float8 AS entries, sum(bytes)::float8 AS bytes
           FROM (SELECT archive_month_of(p.id) AS month, count(*) AS payments,
                        count(*) FILTER (WHERE NOT p.rejected) AS events, 0 AS entries, sum(pg_column_size(p.*)) AS bytes
                   FROM archivable_payments p
                  WHERE p.id < $1 AND p.settled_at < $2 AND p.mode = ANY ($4::mode[]) GROUP BY 1
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
