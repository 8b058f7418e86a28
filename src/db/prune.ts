import { startBackgroundLoop } from '../base/background-loop.ts';
import type { Clock } from '../base/clock.ts';
import { type Pool, type Queryable, sqlStateOf } from './pool.ts';

const pruneBatchSize = 10_000;

/**
 * Deletes older rows of a plain table in batches, so that no statement takes long. Returns how many there were. Its column
 * needs a B-tree index: rows that take the place of deleted ones make a BRIN index match every page.
 */
export async function pruneOlder(
  db: Queryable,
  table: string,
  column: string,
  before: Date,
): Promise<number> {
  for (let pruned = 0; ; ) {
    const { rowCount } = await db.query({
      text: `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${column} < $1 LIMIT ${pruneBatchSize}))`,
      values: [before],
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

/** Keeps logs short while this process runs. Several processes may do so at the same time. */
export function startPruning(
  { pool, clock, log }: PruningDeps,
  prunes: ((pool: Pool, clock: Clock) => Promise<number>)[],
): () => Promise<void> {
  const onError = (err: unknown) => log.error({ err }, 'a log could not be pruned');
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
