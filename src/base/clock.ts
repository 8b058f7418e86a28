/** The source of time is always passed in, so that tests can control it. */
export interface Clock {
  /** The time of day, for everything that is stored, shown or compared with what is stored. It may jump. */
  nowMs(): number;
  /** Time from an arbitrary origin that never jumps, for time-outs and caches inside this process. */
  monotonicMs(): number;
  /** Resolves after `ms`, or as soon as the signal aborts; it never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `run` after `ms`, unless it is cancelled by the returned function. Costs much less than a signal, and does not keep
   * the process alive, unlike `sleep`.
   */
  timer(ms: number, run: () => void): () => void;
}

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;

/** The clock of this machine. What the service stores has the database's time: `src/db/postgres/database-clock.ts`. */
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
  timer: (ms, run) => {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

/** A signal that aborts after `ms`. */
export function abortAfter(clock: Clock, ms: number): AbortSignal {
  const expired = new AbortController();
  clock.timer(ms, () => expired.abort());
  return expired.signal;
}

export const instantOf = (clock: Clock) => new Date(clock.nowMs());
