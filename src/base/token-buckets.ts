import { createBoundedCache } from './bounded-cache.ts';
import type { Clock } from './clock.ts';

interface Bucket {
  tokens: number;
  atMs: number;
}

const maxOwners = 10_000;

/** Token buckets of this process. Returns a function that takes a token, or more, or says in how many seconds there will be so many. */
export function createTokenBuckets(
  clock: Clock,
  { perSec, burst }: { perSec: number; burst: number },
): (owner: string, count?: number) => number | undefined {
  const buckets = createBoundedCache<Bucket>(maxOwners);
  return (owner, count = 1) => {
    const nowMs = clock.monotonicMs();
    const known = buckets.get(owner) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, known.tokens + ((nowMs - known.atMs) / 1_000) * perSec);
    const isEmpty = tokens < count;
    buckets.set(owner, { tokens: isEmpty ? tokens : tokens - count, atMs: nowMs });
    return isEmpty ? Math.ceil((count - tokens) / perSec) : undefined;
  };
}
