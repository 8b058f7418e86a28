import { minUuid, minUuidAt } from '../../base/ids.ts';
import { type AuditContext, recordChange } from '../../db/audit/index.ts';
import { findRow, findValue, type Queryable, readRow, readValue } from '../../db/postgres/index.ts';
import { isArchiveDistributed, withArchiveLock } from './lock.ts';
import {
  type Account,
  countArchivable,
  endedBefore,
  lastClosedBefore,
  listDueAccounts,
  type MonthCount,
} from './months.ts';

export type ArchiveResult =
  | { outcome: 'archived'; months: MonthCount[]; payments: number; events: number; entries: number }
  | { outcome: 'not_closed'; closedBefore: Date }
  | { outcome: 'under_way' };

export interface ArchiveOptions {
  /** The first moment of a month: what is older is archived. */
  before: Date;
  /** Counts, and moves nothing. */
  isDryRun?: boolean;
  batchSize?: number;
  onProgress?: (done: number, of: number) => void;
  /** Its abort ends the run with an error after the batch under way. */
  signal?: AbortSignal;
}

/**
 * Moves closed months of payments, events and entries to the archive, batch by batch, beside the running service. Each
 * batch is one transaction that copies, verifies and deletes, so a kill leaves it done or not begun, and the next run
 * continues. On Citus the copy is a transaction of its own before: a kill in between leaves rows that are live, and the next
 * run finds their copies.
 */
export async function archiveMonths(audit: AuditContext, options: ArchiveOptions): Promise<ArchiveResult> {
  const { pool, clock } = audit;
  const { before, isDryRun = false, onProgress = () => {}, signal } = options;
  const closedBefore = lastClosedBefore(clock);
  if (before > closedBefore) return { outcome: 'not_closed', closedBefore };
  const moved: Moved = { payments: 0, events: 0, entries: 0 };
  if (isDryRun) return { outcome: 'archived', months: await countArchivable(pool, clock, before), ...moved };
  return withArchiveLock(pool, async () => {
    const months = await countArchivable(pool, clock, before, signal);
    const total = months.reduce((sum, { payments, entries }) => sum + payments + entries, 0);
    if (total === 0) return { outcome: 'archived', months, ...moved };
    await recordChange(pool, audit, startOf(before, total));
    const run = {
      before,
      endedBefore: endedBefore(clock),
      batchSize: options.batchSize ?? 500,
      isDistributed: await isArchiveDistributed(pool),
    };
    for await (const batch of moveAccounts({ db: pool, ...run })) {
      moved.payments += batch.payments;
      moved.events += batch.events;
      moved.entries += batch.entries;
      onProgress(moved.payments + moved.entries, total);
      signal?.throwIfAborted();
    }
    return { outcome: 'archived', months, ...moved };
  });
}

const startOf = (before: Date, rows: number) => ({
  action: 'archive.move',
  subject: before.toISOString().slice(0, 7),
  after: { rows },
});

interface Run {
  db: Queryable;
  before: Date;
  /** Payments that ended later stay. */
  endedBefore: Date;
  /** Rows of one transaction: few enough that it takes milliseconds, and that a kill undoes little. */
  batchSize: number;
  /** The archive is on workers of Citus: a batch is copied in a transaction of its own before it is moved. */
  isDistributed: boolean;
}

type Moved = { payments: number; events: number; entries: number };

async function* moveAccounts(run: Run): AsyncGenerator<Moved> {
  for (const account of await listDueAccounts(run.db, run.before)) {
    yield* movePayments(run, account);
    yield* moveEntries(run, account);
  }
}

async function* movePayments(
  { db, before, endedBefore, batchSize, isDistributed }: Run,
  { partner_id, mode }: Account,
): AsyncGenerator<Moved> {
  for (let after = minUuid; ; ) {
    const found = await findRow<{ month: string; next_month_id: string }>(db, {
      text: `SELECT archive_month_of(p.id)::text AS month,
                    archive_first_id((archive_month_of(p.id) + interval '1 month')::date) AS next_month_id
               FROM payments p WHERE p.partner_id = $1 AND p.mode = $2 AND p.id > $3 AND p.id < $4
              ORDER BY p.id LIMIT 1`,
      values: [partner_id, mode, after, minUuidAt(before.getTime())],
    });
    if (!found) return;
    const { month, next_month_id } = found;
    if (!(await prepare(db, month))) {
      after = next_month_id;
      continue;
    }
    const values = [partner_id, mode, month, after, endedBefore, batchSize];
    if (isDistributed)
      await db.query({
        text: 'SELECT archive_copy_payments($1, $2, archivable_ids($1, $2, $3, $4, $5, $6))',
        values,
      });
    const { last_id, payments, events } = await readRow<{
      last_id: string;
      payments: bigint;
      events: bigint;
    }>(db, {
      text: 'SELECT last_id, payments, events FROM archive_payments($1, $2, $3, $4, $5, $6)',
      values,
    });
    after = last_id;
    yield { payments: Number(payments), events: Number(events), entries: 0 };
  }
}

async function* moveEntries(
  { db, before, batchSize, isDistributed }: Run,
  { partner_id, mode }: Account,
): AsyncGenerator<Moved> {
  const upTo = await readValue<bigint>(db, {
    text: 'SELECT archivable_entries($1, $2, $3)',
    values: [partner_id, mode, before],
  });
  for (;;) {
    const month = await findValue<string>(db, {
      text: `SELECT date_trunc('month', e.created_at AT TIME ZONE 'UTC')::date::text
               FROM entries e WHERE e.partner_id = $1 AND e.mode = $2 AND e.entry_no <= $3
              ORDER BY e.entry_no LIMIT 1`,
      values: [partner_id, mode, upTo],
    });
    if (!month) return;
    await prepare(db, month);
    const values = [partner_id, mode, month, upTo, batchSize];
    if (isDistributed)
      await db.query({
        text: 'SELECT archive_copy_entries($1, $2, $3, archivable_numbers($1, $2, $3, $4, $5))',
        values,
      });
    const moved = await readValue<bigint>(db, {
      text: 'SELECT archive_entries($1, $2, $3, $4, $5)',
      values,
    });
    yield { payments: 0, events: 0, entries: Number(moved) };
  }
}

/** Makes the partitions of the month. False if its payments were dropped. */
const prepare = (db: Queryable, month: string) =>
  readValue<boolean>(db, {
    text: 'SELECT archive_prepare($1) AS ready',
    values: [month],
  });
