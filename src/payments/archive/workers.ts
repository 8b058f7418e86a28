import { startBackgroundLoop } from '../../base/background-loop.ts';
import type { Clock } from '../../base/clock.ts';
import { type Queryable, readValue, sqlStateOf } from '../../db/postgres/index.ts';
import { isArchiveDistributed } from './lock.ts';

export type ArchiveWatch = ReturnType<typeof watchArchiveWorkers>;

interface WatchOptions {
  db: Queryable;
  clock: Clock;
  isDatabaseAnswering(): boolean;
  /** After the first look at a worker, after each change, and every minute while it does not answer. */
  onState(node: string, isReachable: boolean): void;
}

const pollEveryMs = 5_000;
/** If the archive is on this server, whether it still is. */
const pollLocalMs = 60_000;
/** One look can fail because the server is busy. */
const maxFailures = 2;
const repeatEvery = 12;

/** Looks at the workers that have the archive. Payments do not need them; reads of old history do. */
export function watchArchiveWorkers({ db, clock, isDatabaseAnswering, onState }: WatchOptions) {
  /** Looks in a row that have failed. */
  const failures = new Map<string, number>();
  const isOut = (node: string) => failures.get(node)! >= maxFailures;

  const { stop } = startBackgroundLoop({
    clock,
    everyMs: pollEveryMs,
    work: async () => {
      if (!isDatabaseAnswering()) return pollEveryMs;
      const workers = await askArchiveWorkers(db);
      for (const node of failures.keys())
        if (!workers.some(worker => worker.node === node)) failures.delete(node);
      for (const { node, isReachable } of workers) {
        const before = failures.get(node);
        const now = isReachable ? 0 : (before ?? 0) + 1;
        failures.set(node, now);
        // An alarm of an earlier process may be open.
        const isBack = isReachable && (before === undefined || before >= maxFailures);
        if (isBack || (!isReachable && now >= maxFailures && (now - maxFailures) % repeatEvery === 0))
          onState(node, isReachable);
      }
      return workers.length === 0 ? pollLocalMs : pollEveryMs;
    },
    onError: () => {},
  });
  return {
    /** The workers that did not answer twice in a row, and all that are known. */
    unreachable: () => [...failures.keys()].filter(isOut),
    nodes: () => [...failures.keys()],
    stop,
  };
}

/** A worker that does not answer within this time cannot be used by requests either. */
const answerWithinMs = 2_000;

/**
 * The workers that have a part of the archive, each with an address such as `10.0.0.5:5432`; none if it is on this server. Asks each
 * through the coordinator, as reads of the archive do.
 */
export async function askArchiveWorkers(db: Queryable) {
  if (!(await isArchiveDistributed(db))) return [];
  const { rows } = await db.query<{ name: string; port: number }>({
    text: `SELECT nodename AS name, nodeport AS port FROM pg_dist_node
            WHERE noderole = 'primary' AND isactive AND groupid <> 0 ORDER BY 1, 2`,
  });
  const workers = [];
  for (const { name, port } of rows)
    workers.push({ node: `${name}:${port}`, isReachable: await answers(db, name, port) });
  return workers;
}

async function answers(db: Queryable, name: string, port: number): Promise<boolean> {
  try {
    return await readValue<boolean>(db, {
      text: 'SELECT citus_check_connection_to_node($1, $2) AS answers',
      values: [name, port],
      query_timeout: answerWithinMs,
    });
  } catch (error) {
    // The coordinator itself is asked by the heartbeat.
    if (sqlStateOf(error)?.startsWith('57P')) throw error;
    return false;
  }
}
