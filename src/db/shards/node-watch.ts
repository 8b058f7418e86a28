import { startBackgroundLoop } from '../../base/background-loop.ts';
import type { Clock } from '../../base/clock.ts';
import { NotAnsweringError } from '../database-errors.ts';
import { tryConnection } from '../dedicated-connection.ts';
import { NodeChangedError } from './node-history.ts';
import type { NodePool } from './nodes.ts';

const checkIntervalMs = 2_000;
const limits = { connectionTimeoutMillis: 4_000, query_timeout: 4_000 };
/** As with the history of the database itself: one check without an answer may fail. */
const verifiedForMs = 10_000;

export interface NodeWatch {
  /** Why the node of a shard cannot be used; undefined: it can. */
  whyNot(shard: number): string | undefined;
  stop(): Promise<void>;
}

interface NodeWatchOptions {
  clock: Clock;
  /** The next incarnation must begin. Called again until sessions lead to a node that belongs to this process's incarnation. */
  onNodeChanged(change: NodeChangedError): Promise<void>;
}

/**
 * Asks in a new connection again and again where new connections to the node of each shard lead. After a fail-over the sessions of
 * the pool may stay with the old server, which goes on answering.
 */
export function watchNodes(workers: Map<number, NodePool>, options: NodeWatchOptions): NodeWatch {
  const { clock, onNodeChanged } = options;
  const states = new Map<number, { verifiedMs: number; refusal: string | undefined }>();
  const loops = Array.from(workers, ([shard, { pool }]) => {
    const state = { verifiedMs: clock.monotonicMs(), refusal: undefined as string | undefined };
    states.set(shard, state);
    return startBackgroundLoop({
      clock,
      everyMs: checkIntervalMs,
      work: async () => {
        const startedMs = clock.monotonicMs();
        try {
          await tryConnection(pool, 'node check', limits);
          state.verifiedMs = startedMs;
          state.refusal = undefined;
        } catch (error) {
          if (error instanceof NotAnsweringError) state.refusal = error.message;
          if (error instanceof NodeChangedError) await onNodeChanged(error);
        }
      },
      onError: () => {},
    });
  });
  return {
    whyNot: shard => {
      const state = states.get(shard);
      if (!state || state.refusal !== undefined) return state?.refusal;
      const isVerified = clock.monotonicMs() - state.verifiedMs < verifiedForMs;
      return isVerified ? undefined : 'its node accepts no new connection';
    },
    stop: async () => void (await Promise.all(loops.map(({ stop }) => stop()))),
  };
}
