import type { Clock } from './clock.ts';

export type BackgroundLoop = ReturnType<typeof startBackgroundLoop>;

export interface BackgroundLoopOptions {
  clock: Clock;
  everyMs: number;
  /** After a round that failed; by default as after any other. */
  afterErrorMs?: number;
  /** One round. It may return how many milliseconds to pause instead of `everyMs`; after 0 the next round follows at once. */
  work(signal: AbortSignal): Promise<number | undefined> | Promise<void>;
  onError(error: unknown): void;
}

/** A reason of our own: without one, every abort creates an error with its stack. */
const requested = 'requested';

/** Runs `work` again and again until it is stopped; an error ends a round, never the loop. */
export function startBackgroundLoop(options: BackgroundLoopOptions) {
  const { clock, everyMs, afterErrorMs = everyMs, work, onError } = options;
  const stopping = new AbortController();
  let pausing: AbortController | undefined;
  let isRequested = false;

  async function pause(ms: number): Promise<void> {
    if (ms <= 0 || isRequested || stopping.signal.aborted) return;
    pausing = new AbortController();
    await clock.sleep(ms, pausing.signal);
    pausing = undefined;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      isRequested = false;
      const pauseMs = await work(stopping.signal).catch(error => {
        onError(error);
        return afterErrorMs;
      });
      await pause(pauseMs ?? everyMs);
    }
  }

  const running = run();
  return {
    /** Starts the next round now instead of after the pause. */
    runNow: () => {
      isRequested = true;
      pausing?.abort(requested);
    },
    /** Resolves when the round under way has ended; no other begins. */
    stop: () => {
      stopping.abort();
      pausing?.abort(requested);
      return running;
    },
  };
}
