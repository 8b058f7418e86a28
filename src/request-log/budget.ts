import { createBoundedCache } from '../base/bounded-cache.ts';
import type { Clock } from '../base/clock.ts';

/**
 * How many refused requests are recorded: of one partner, and of all callers without a valid key together. A person who tries
 * out an integration stays far below. A flood adds two rows a second to a process, which are 1.2 million a week.
 */
const burst = 300;
const perSecond = 2;
const maxOwners = 1_000;

export interface Budget {
  take(owner: string): boolean;
}

/** A token bucket per owner. */
export function createBudget(clock: Clock): Budget {
  const buckets = createBoundedCache<{ tokens: number; atMs: number }>(maxOwners);
  return {
    take: owner => {
      const nowMs = clock.monotonicMs();
      let bucket = buckets.get(owner);
      if (!bucket) {
        bucket = { tokens: burst, atMs: nowMs };
        buckets.set(owner, bucket);
      }
      const gained = ((nowMs - bucket.atMs) / 1_000) * perSecond;
      bucket.tokens = Math.min(burst, bucket.tokens + gained);
      bucket.atMs = nowMs;
      if (bucket.tokens < 1) return false;
      bucket.tokens -= 1;
      return true;
    },
  };
}
