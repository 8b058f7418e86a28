import { type Clock, systemClock } from '../../src/base/clock.ts';

/** A clock that stands still until it is turned; whoever sleeps by it sleeps in real time. */
export function manualClock(startIso = '2026-11-15T10:00:00Z'): Clock & { advance(ms: number): void } {
  let nowMs = Date.parse(startIso);
  return {
    ...systemClock,
    nowMs: () => nowMs,
    advance: ms => {
      nowMs += ms;
    },
  };
}
