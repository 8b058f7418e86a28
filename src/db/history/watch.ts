import { startBackgroundLoop } from '../../base/background-loop.ts';
import type { Clock } from '../../base/clock.ts';
import { NotAnsweringError, type Pool, tryConnection } from '../postgres/index.ts';

const checkIntervalMs = 2_000;
/** Callers can ask for checks; each opens a connection. */
const minIntervalMs = 100;
/** A busy machine needs some time to open a connection. */
const limits = { connectionTimeoutMillis: 4_000, query_timeout: 4_000 };
/** Another history is noticed by the next check, after 2 s. This is for checks that get no answer: one of them may fail. */
const verifiedForMs = 10_000;

export type IncarnationWatch = ReturnType<typeof watchIncarnation>;

/**
 * Asks in a new connection again and again where new connections lead. After a fail-over the sessions of the pool may stay
 * with the old primary, which goes on answering. `onRefused` gets why a server that answers is not the right one.
 */
export function watchIncarnation(pool: Pool, clock: Clock, onRefused: (why: NotAnsweringError) => void) {
  let verifiedMs = clock.monotonicMs();
  let hasFailed = false;
  let startedMs = Number.NEGATIVE_INFINITY;
  let startedChecks = 0;
  let endedChecks = 0;
  let checked = Promise.withResolvers<void>();
  let isStopped = false;
  /** False while it is not known whether new connections lead to the history that this process joined. */
  const isVerified = () => clock.monotonicMs() - verifiedMs < verifiedForMs;
  const loop = startBackgroundLoop({
    clock,
    everyMs: checkIntervalMs,
    work: async signal => {
      const sinceLastMs = clock.monotonicMs() - startedMs;
      if (sinceLastMs < minIntervalMs) await clock.sleep(minIntervalMs - sinceLastMs, signal);
      startedMs = clock.monotonicMs();
      startedChecks += 1;
      hasFailed = await tryConnection(pool, 'history check', limits).then(
        () => false,
        error => {
          // The heartbeat notices a server that does not answer.
          if (error instanceof NotAnsweringError) onRefused(error);
          return true;
        },
      );
      if (!hasFailed) verifiedMs = startedMs;
      endedChecks = startedChecks;
      checked.resolve();
      checked = Promise.withResolvers();
    },
    onError: () => {},
  });
  async function nextCheck(): Promise<void> {
    if (isStopped) return;
    loop.runNow();
    await checked.promise;
  }
  return {
    isVerified,
    /** If this process paused since the last check, waits for the next one. */
    afterPause: async () => {
      if (isVerified() || hasFailed) return;
      await nextCheck();
    },
    /** Fails unless a connection that is opened after this call leads to the history that this process joined. */
    confirm: async () => {
      // One that is under way may have connected before: only a later one counts.
      const wanted = startedChecks + 1;
      while (endedChecks < wanted && !isStopped) await nextCheck();
      if (hasFailed || isStopped)
        throw new NotAnsweringError('it is not certain that this is the current history');
    },
    stop: async () => {
      // No check follows: a caller that waits for one would never be answered.
      isStopped = true;
      checked.resolve();
      await loop.stop();
    },
  };
}
