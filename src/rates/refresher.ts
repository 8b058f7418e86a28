import { type BackgroundLoop, startBackgroundLoop } from '../base/background-loop.ts';
import { claimRefresh, maxRefreshMs } from './claim.ts';
import { type RefreshDeps, refreshRate } from './refresh.ts';

export interface RefresherDeps extends RefreshDeps {
  refreshSec: number;
  onError(error: unknown): void;
}

/**
 * Keeps the rate fresh for as long as this process runs. Every process has this loop, and the claim elects the one that
 * refreshes.
 */
export function startRateRefresher(deps: RefresherDeps): BackgroundLoop {
  const { db, clock, refreshSec, onError } = deps;
  return startBackgroundLoop({
    clock,
    // More often than a long period: the claim decides, and a round without it costs little.
    everyMs: Math.min(refreshSec * 1_000, maxRefreshMs),
    work: async signal => {
      try {
        if (await claimRefresh(db, clock, refreshSec)) await refreshRate(deps, signal);
      } catch (error) {
        // A refresh that `stop` has cut off is no error.
        if (!signal.aborted) throw error;
      }
    },
    onError,
  });
}
