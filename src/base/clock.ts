/** Time is always asked of a clock that was handed in, so that tests can turn it. */
export interface Clock {
  nowMs(): number;
  /** Resolves when the time has passed, or at once when the signal says that nobody waits any more. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise(resolve => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done);
    }),
};

export const instantOf = (clock: Clock) => new Date(clock.nowMs());
