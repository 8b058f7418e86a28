/** Time is always asked of a clock that was handed in, so that tests can turn it. */
export interface Clock {
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

export const instantOf = (clock: Clock) => new Date(clock.nowMs());
