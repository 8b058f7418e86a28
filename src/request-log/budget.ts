import { createBoundedCache } from '../base/bounded-cache.ts';
import type { Clock } from '../base/clock.ts';

const maxOwners = 1_000;

/** At first, and then per second. */
interface Allowance {
  burst: number;
  perSecond: number;
}

export interface Budget {
  take(owner: string): boolean;
}

/** A token bucket per owner, such as a partner. */
export function createBudget(clock: Clock, { burst, perSecond }: Allowance): Budget {
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
