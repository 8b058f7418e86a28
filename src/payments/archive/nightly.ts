import type { Alarms } from '../../alarms/index.ts';
import { startBackgroundLoop } from '../../base/background-loop.ts';
import { type Clock, dayMs, hourMs } from '../../base/clock.ts';
import { type Pool, type Queryable, readValue } from '../../db/postgres/index.ts';
import { archiveMonths } from './archive.ts';
import { dueBefore } from './months.ts';

export interface NightlyArchiveDeps {
  pool: Pool;
  clock: Clock;
  alarms: Alarms;
  log: Record<'info' | 'error', (details: object, message: string) => void>;
  /** How many whole months stay live; 0: nothing is archived here. Undefined: see `monthsKept`. */
  archiveAfterMonths: number | undefined;
  /** Undefined: the embedded server. */
  databaseUrl: string | undefined;
  /** For tests. */
  manyPayments?: number;
  /** For tests. */
  batchSize?: number;
}

/** UTC; 04:00 in Moscow, when the fewest payments are made. */
const startHour = 1;

/** When the next night run starts: after this moment. */
export function nextNightMs(nowMs: number): number {
  const todayMs = Math.floor(nowMs / dayMs) * dayMs + startHour * hourMs;
  return todayMs > nowMs ? todayMs : todayMs + dayMs;
}

/** Operators, refunds and disputes mostly concern the last quarter. */
const keptByDefault = 3;
/** Up to this number the live tables of a small installation need no archive. */
const manyByDefault = 1_000_000;

async function monthsKept({
  pool,
  databaseUrl,
  archiveAfterMonths,
  manyPayments = manyByDefault,
}: NightlyArchiveDeps): Promise<number> {
  if (archiveAfterMonths !== undefined) return archiveAfterMonths;
  const isSmall = databaseUrl === undefined && (await estimatePayments(pool)) <= manyPayments;
  return isSmall ? 0 : keptByDefault;
}

/** Live payments as PostgreSQL estimates them, since counting reads every row; and those that were archived. */
const estimatePayments = (db: Queryable) =>
  readValue<number>(db, {
    text: `SELECT greatest(c.reltuples, 0)::float8
                  + (SELECT coalesce(sum(s.rows), 0) FROM archive_sums s WHERE s.kind = 'payments')::float8 AS stored
             FROM pg_class c WHERE c.oid = 'payments'::regclass`,
  });

const alarm = { kind: 'archive_failed', subject: 'archive' };

/** Archives the months that are due. Another run that is under way, in any process, does the same. */
async function archiveDue(deps: NightlyArchiveDeps, signal: AbortSignal): Promise<void> {
  const { pool, clock, alarms, log, batchSize } = deps;
  const keptMonths = await monthsKept(deps);
  if (keptMonths === 0) return;
  const before = dueBefore(clock, keptMonths);
  const run = { before: formatMonth(before) };
  let hasBegun = false;
  const onProgress = (_done: number, rows: number) => {
    if (!hasBegun) log.info({ ...run, rows }, 'archiving has begun');
    hasBegun = true;
  };
  const result = await archiveMonths(
    { pool, clock, actor: 'kopeck' },
    { before, signal, onProgress, ...(batchSize && { batchSize }) },
  ).catch(error => {
    if (signal.aborted) return log.info(run, 'archiving was stopped: the next run goes on');
    throw error;
  });
  if (result?.outcome !== 'archived') return;
  const { months, payments, events, entries } = result;
  const counts = { ...run, months: months.map(({ month }) => month), payments, events, entries };
  if (hasBegun) log.info(counts, 'months were archived');
  await alarms.clear(alarm.kind, alarm.subject);
}

const formatMonth = (at: Date) => at.toISOString().slice(0, 7);

const describe = (error: unknown) =>
  `The nightly archive run failed: ${error instanceof Error ? error.message : error}. No row is lost, and the run is repeated every hour. If it keeps failing, correct the cause: until then the live tables grow.`;

/** Archives every night, in one of the processes that run this. Between the nights it asks nothing of the database. */
export function startNightlyArchive(deps: NightlyArchiveDeps): () => Promise<void> {
  const { clock, alarms, log } = deps;
  if (deps.archiveAfterMonths === 0) return async () => {};
  let nextMs = nextNightMs(clock.nowMs());

  async function runIfNight(signal: AbortSignal): Promise<number> {
    if (clock.nowMs() >= nextMs) {
      nextMs = nextNightMs(clock.nowMs());
      await archiveDue(deps, signal).catch(async err => {
        nextMs = Math.min(nextMs, clock.nowMs() + hourMs);
        log.error({ err }, 'archiving failed');
        await alarms.raise({ ...alarm, detail: describe(err) });
      });
    }
    // Timers do not run while a machine sleeps, and its clock may be set.
    return Math.min(Math.max(nextMs - clock.nowMs(), 0), hourMs);
  }

  return startBackgroundLoop({
    clock,
    everyMs: hourMs,
    work: runIfNight,
    onError: err => log.error({ err }, 'archiving failed'),
  }).stop;
}
