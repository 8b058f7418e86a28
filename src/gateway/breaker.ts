import type { Clock } from '../base/clock.ts';

/** Notices that the bank side does not answer, and keeps new work away from it until it does. */
export interface Breaker {
  /** Whether a call that may as well not be made should be made; of many who ask after the pause, one may try. */
  letsPass(): boolean;
  answered(): void;
  failed(): void;
}

/** So many calls in a row without an answer open it, for so long. */
const failuresToOpen = 10;
const openMs = 2_000;

export function createBreaker(clock: Clock, onChange: (isOpen: boolean) => void): Breaker {
  let failuresInARow = 0;
  let nextTryMs: number | undefined;
  /** The first answer is told too: a process before this one may have found nobody there. */
  let isKnown = false;
  return {
    letsPass: () => {
      if (nextTryMs === undefined) return true;
      if (clock.nowMs() < nextTryMs) return false;
      // Whoever tries may be long about it; the next one may after another pause.
      nextTryMs = clock.nowMs() + openMs;
      return true;
    },
    answered: () => {
      failuresInARow = 0;
      if (nextTryMs === undefined && isKnown) return;
      nextTryMs = undefined;
      isKnown = true;
      onChange(false);
    },
    failed: () => {
      failuresInARow += 1;
      // What fails while it is open (looks at unfinished payments are never held back) does not put the next try off.
      if (failuresInARow < failuresToOpen || nextTryMs !== undefined) return;
      nextTryMs = clock.nowMs() + openMs;
      isKnown = true;
      onChange(true);
    },
  };
}
