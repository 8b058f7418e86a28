import { startBackgroundLoop } from '../../base/background-loop.ts';
import { type Clock, dayMs } from '../../base/clock.ts';
import { type Pool, type Queryable, sqlStateOf } from '../postgres/index.ts';

const pruneBatchSize = 10_000;

/** How long rows stay. */
export interface Retention {
  table: string;
  /** From when on their age counts: a column, or an expression of the row `t`. */
  since: string;
  keptDays: number;
  /** Only these of the older rows go. */
  where?: string;
}

export const oldestKept = (clock: Clock, { keptDays }: Pick<Retention, 'keptDays'>) =>
  new Date(clock.nowMs() - keptDays * dayMs);

/**
 * Deletes older rows of a plain table in batches, so that each statement is short. Returns how many there were. If it is
 * large, its column needs a B-tree index: rows that take the place of deleted ones make a BRIN index match every page.
 */
export async function pruneOlder(db: Queryable, clock: Clock, retention: Retention): Promise<number> {
  const { table, since, where = 'true' } = retention;
  for (let pruned = 0; ; ) {
    const { rowCount } = await db.query({
      text: `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
               SELECT ctid FROM ${table} AS t WHERE ${since} < $1 AND (${where}) LIMIT ${pruneBatchSize}))`,
      values: [oldestKept(clock, retention)],
    });
    if (!rowCount) return pruned;
    pruned += rowCount;
  }
}

const pruneIntervalMs = 3_600_000;
const busyRetryMs = 60_000;

interface PruningDeps {
  pool: Pool;
  clock: Clock;
  log: { error(details: object, message: string): void };
}

export type Prune = (pool: Pool, clock: Clock) => Promise<number>;

/** Keeps tables short while this process runs. Several processes may do so at the same time. */
export function startPruning({ pool, clock, log }: PruningDeps, prunes: Prune[]): () => Promise<void> {
  const onError = (err: unknown) => log.error({ err }, 'a table could not be pruned');
  const loop = startBackgroundLoop({
    clock,
    everyMs: pruneIntervalMs,
    work: async () => {
      let pauseMs = pruneIntervalMs;
      for (const prune of prunes)
        await prune(pool, clock).catch(err => {
          const isInUse = sqlStateOf(err) === '55P03';
          if (isInUse) pauseMs = busyRetryMs;
          else onError(err);
        });
      return pauseMs;
    },
    onError,
  });
  return loop.stop;
}
