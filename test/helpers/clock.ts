import type { Clock } from '../../src/base/clock.ts';

/** A clock that stands still until it is turned. */
export function manualClock(startIso = '2026-11-15T10:00:00Z'): Clock & { advance(ms: number): void } {
  let nowMs = Date.parse(startIso);
  return {
    nowMs: () => nowMs,
    advance: ms => {
      nowMs += ms;
    },
  };
}
