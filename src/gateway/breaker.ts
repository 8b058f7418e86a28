import type { Clock } from '../base/clock.ts';

/**
 * A circuit breaker: opens when the bank side does not answer, and keeps new work away from it until it does.
 * Written by hand: packages guard every call, but polls of unfinished payments must go through an open breaker.
 */
export interface Breaker {
  /** Whether to make a call that may as well be skipped. While open, one call per interval may try. */
  allowsCall(): boolean;
  onSuccess(): void;
  onFailure(): void;
}

/** This many calls in a row without an answer open it. */
const failuresToOpen = 10;
const retryIntervalMs = 2_000;

export function createBreaker(clock: Clock, onChange: (isOpen: boolean) => void): Breaker {
  let failuresInARow = 0;
  /** Set while it is open. */
  let nextTryMs: number | undefined;
  /** The first success is reported too: an earlier process may have reported that the bank side is unreachable. */
  let hasReported = false;
  return {
    allowsCall: () => {
      if (nextTryMs === undefined) return true;
      if (clock.monotonicMs() < nextTryMs) return false;
      // That call may take long; the next one may try after another interval.
      nextTryMs = clock.monotonicMs() + retryIntervalMs;
      return true;
    },
    onSuccess: () => {
      failuresInARow = 0;
      if (nextTryMs === undefined && hasReported) return;
      nextTryMs = undefined;
      hasReported = true;
      onChange(false);
    },
    onFailure: () => {
      failuresInARow += 1;
      // Polls of unfinished payments are made while it is open; their failures do not postpone the next try.
      if (failuresInARow < failuresToOpen || nextTryMs !== undefined) return;
      nextTryMs = clock.monotonicMs() + retryIntervalMs;
      hasReported = true;
      onChange(true);
    },
  };
}
