import { setTimeout as pause } from 'node:timers/promises';
import { claimRefresh, refreshTakesAtMostMs } from './claim.ts';
import { type RefreshDeps, refreshRate } from './refresh.ts';

export interface RefresherDeps extends RefreshDeps {
  refreshSec: number;
  onError(error: unknown): void;
  /** Waits without keeping the process alive, and rejects when told to stop. */
  wait?(ms: number, signal: AbortSignal): Promise<void>;
}

const waitUnreferenced = (ms: number, signal: AbortSignal) => pause(ms, undefined, { ref: false, signal });

/**
 * Keeps the rate fresh for as long as this process runs, together with all others that do the same. Nudged, it tries at
 * once.
 */
export function startRateRefresher(deps: RefresherDeps): { nudge(): void; stop(): Promise<void> } {
  const { db, clock, refreshSec, onError, wait = waitUnreferenced } = deps;
  // Tries more often than the period when that is long: the claim decides, and a try that it refuses costs nothing.
  const pauseMs = Math.min(refreshSec * 1_000, refreshTakesAtMostMs);
  const stopping = new AbortController();
  const { signal } = stopping;
  let pausing = new AbortController();

  async function run(): Promise<void> {
    while (!signal.aborted) {
      pausing = new AbortController();
      try {
        if (await claimRefresh(db, clock, refreshSec)) await refreshRate(deps, signal);
      } catch (error) {
        if (!signal.aborted) onError(error);
      }
      await wait(pauseMs, AbortSignal.any([signal, pausing.signal])).catch(() => {});
    }
  }

  const running = run();
  return {
    nudge: () => pausing.abort(),
    stop: () => {
      stopping.abort();
      return running;
    },
  };
}
