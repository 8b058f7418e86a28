import { type Clock, systemClock } from '../../src/base/clock.ts';

/** For checks of a ledger whose entries were made with a clock of the test: none of them is in the future. */
export const endOfTime = new Date('9999-01-01T00:00:00Z');

/** A clock that moves only by `advance`; both its times move together; its `sleep` takes real time. */
export function manualClock(startIso = '2026-11-15T10:00:00Z'): Clock & { advance(ms: number): void } {
  let nowMs = Date.parse(startIso);
  return {
    ...systemClock,
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    advance: ms => {
      nowMs += ms;
    },
  };
}
