import { startBackgroundLoop } from '../base/background-loop.ts';
import type { Clock } from '../base/clock.ts';
import type { Queryable } from './pool.ts';

const pruneBatchSize = 10_000;

/** Deletes older rows in batches, so that no statement takes long. Returns how many there were. */
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

interface PruningDeps {
  db: Queryable;
  clock: Clock;
  log: { error(details: object, message: string): void };
}

/** Keeps logs short while this process runs. Several processes may do so at the same time. */
export function startPruning(
  { db, clock, log }: PruningDeps,
  prunes: ((db: Queryable, clock: Clock) => Promise<number>)[],
): () => Promise<void> {
  const onError = (err: unknown) => log.error({ err }, 'a log could not be pruned');
  const loop = startBackgroundLoop({
    clock,
    everyMs: pruneIntervalMs,
    work: async () => {
      for (const prune of prunes) await prune(db, clock).catch(onError);
    },
    onError,
  });
  return loop.stop;
}
