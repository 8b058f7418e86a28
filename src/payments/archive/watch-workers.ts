import { startBackgroundLoop } from '../../base/background-loop.ts';
import type { Clock } from '../../base/clock.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import { askArchiveWorkers } from './workers.ts';

export interface ArchiveWatch {
  /** The workers that did not answer twice in a row, and all that are known. */
  unreachable(): string[];
  nodes(): string[];
  stop(): Promise<void>;
}

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
export function watchArchiveWorkers({ db, clock, isDatabaseAnswering, onState }: WatchOptions): ArchiveWatch {
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
  return { unreachable: () => [...failures.keys()].filter(isOut), nodes: () => [...failures.keys()], stop };
}
