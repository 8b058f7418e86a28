import { type Clock, dayMs } from '../../base/clock.ts';
import { type Pool, type Queryable, readRows, readValue, transaction } from '../postgres/index.ts';
import { oldestKept, pruneOlder, type Retention } from './prune.ts';

/** A Monday, 00:00 UTC. */
const firstMondayMs = 4 * dayMs;
const periodsAhead = 2;

/** Any number that no other lock uses. One process at a time changes the partitions of a table. */
const lockClass = 718_000_002;
/** Statements that use the table wait behind a lock that is waited for. So stop waiting at once, and try again later. */
const lockTimeoutMs = 100;

interface Partition {
  name: string;
  from: Date;
  to: Date;
}

/** `since` is the column by which the table is partitioned. */
interface Log extends Omit<Retention, 'where'> {
  /** The period of a partition: weeks, from Monday, if it is not set. */
  partitionDays?: 1 | 7;
}

const periodMsOf = ({ partitionDays = 7 }: Log) => partitionDays * dayMs;

/**
 * A log has one partition per week or per day. Old rows leave with their partition: that costs the same whatever it holds,
 * while a DELETE leaves dead rows behind and makes the next one search longer. `NAME_default` takes every row whose period
 * has no partition, so an insert never fails: before the first round, after a long stop, with a wrong clock. No row goes
 * before its age; all are gone one period later.
 *
 * Creates the partitions of this period and the next ones, drops those that are too old, and deletes old rows of the default
 * partition. Returns how many rows were deleted one by one. If the table is in use for too long, it fails with
 * 55P03 and goes on where it was in the next round.
 */
export async function keepPartitions(pool: Pool, clock: Clock, log: Log): Promise<number> {
  const deleted = await pruneOlder(pool, clock, { ...log, table: defaultOf(log) });
  while (await changeOne(pool, clock, log));
  return deleted;
}

const defaultOf = ({ table }: Log) => `${table}_default`;

/**
 * One change and its commit, so that locks are held for a short time and a crash leaves no half of a change. False: there
 * is nothing to do, or another process does it.
 */
function changeOne(pool: Pool, clock: Clock, log: Log): Promise<boolean> {
  return transaction(pool, async tx => {
    await tx.query({ text: `SET LOCAL lock_timeout = ${lockTimeoutMs}` });
    const isMine = await readValue<boolean>(tx, {
      text: `SELECT pg_try_advisory_xact_lock(${lockClass}, hashtext(
               CASE current_schema() WHEN 'public' THEN '' ELSE current_schema() || '.' END || $1)) AS is_mine`,
      values: [log.table],
    });
    if (!isMine) return false;
    const partitions = await listPartitions(tx, log);
    const old = partitions.find(({ to }) => to <= oldestKept(clock, log));
    if (old) {
      await tx.query({ text: 'SELECT log_partition_drop($1, $2)', values: [log.table, old.name] });
      return true;
    }
    const period = missingPeriod(clock, log, partitions);
    if (period === undefined) return false;
    const beyond = new Date(period.getTime() + periodMsOf(log));
    await tx.query({ text: 'SELECT log_partition_add($1, $2, $3)', values: [log.table, period, beyond] });
    return true;
  });
}

const listPartitions = (tx: Queryable, { table }: Log) =>
  readRows<Partition>(tx, {
    text: `SELECT name, substring(bound FROM 'FROM \\(''([^'']+)''\\)')::timestamptz AS from,
                  substring(bound FROM 'TO \\(''([^'']+)''\\)')::timestamptz AS to
             FROM (SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound
                     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass) AS p
            WHERE bound <> 'DEFAULT' ORDER BY 2`,
    values: [table],
  });

/**
 * The last period without a partition. The last one first: rows of this period may wait in the default partition, and if
 * they are too many to be moved, the next periods have their partitions all the same.
 */
function missingPeriod(clock: Clock, log: Log, partitions: Partition[]): Date | undefined {
  const periodMs = periodMsOf(log);
  const nowMs = clock.nowMs();
  const thisPeriodMs = nowMs - ((((nowMs - firstMondayMs) % periodMs) + periodMs) % periodMs);
  for (let ahead = periodsAhead; ahead >= 0; ahead--) {
    const fromMs = thisPeriodMs + ahead * periodMs;
    const isTaken = partitions.some(
      ({ from, to }) => from.getTime() < fromMs + periodMs && to.getTime() > fromMs,
    );
    if (!isTaken) return new Date(fromMs);
  }
  return undefined;
}
