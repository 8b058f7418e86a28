/** The source of time is always passed in, so that tests can control it. */
export interface Clock {
  /** The time of day, for everything that is stored, shown or compared with what is stored. It may jump. */
  nowMs(): number;
  /** Time from an arbitrary origin that never jumps, for time-outs and caches inside this process. */
  monotonicMs(): number;
  /** Resolves after `ms`, or as soon as the signal aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of this machine. What the service stores has the database's time: `src/db/database-clock.ts`. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
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
