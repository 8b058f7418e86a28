import type { Clock } from '../base/clock.ts';
import type { Queryable } from './pool.ts';

const pruneAtOnce = 10_000;

/** Forgets rows from before then, some at a time, so that nobody waits long. Returns how many rows that were. */
export async function pruneOlder(
  db: Queryable,
  table: string,
  column: string,
  before: Date,
): Promise<number> {
  for (let pruned = 0; ; ) {
    const { rowCount } = await db.query({
      text: `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${column} < $1 LIMIT ${pruneAtOnce}))`,
      values: [before],
    });
    if (!rowCount) return pruned;
    pruned += rowCount;
  }
}

const pruneEveryMs = 3_600_000;

interface PruningDeps {
  db: Queryable;
  clock: Clock;
  log: { error(details: object, message: string): void };
}

/** Keeps logs short for as long as this process runs; that several do so does no harm. */
export function startPruning(
  { db, clock, log }: PruningDeps,
  prunes: ((db: Queryable, clock: Clock) => Promise<number>)[],
): () => Promise<void> {
  const stop = new AbortController();
  const finished = (async () => {
    while (!stop.signal.aborted) {
      for (const prune of prunes)
        await prune(db, clock).catch(err => log.error({ err }, 'a log could not be pruned'));
      await clock.sleep(pruneEveryMs, stop.signal);
    }
  })();
  return () => {
    stop.abort();
    return finished;
  };
}
