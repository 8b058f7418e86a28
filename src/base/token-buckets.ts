import { createBoundedCache } from './bounded-cache.ts';
import type { Clock } from './clock.ts';

interface Bucket {
  tokens: number;
  atMs: number;
}

const maxOwners = 10_000;

/** Token buckets of this process. Returns a function that takes a token, or says in how many seconds there will be one. */
export function createTokenBuckets(
  clock: Clock,
  { perSec, burst }: { perSec: number; burst: number },
): (owner: string) => number | undefined {
  const buckets = createBoundedCache<Bucket>(maxOwners);
  return owner => {
    const nowMs = clock.monotonicMs();
    const known = buckets.get(owner) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, known.tokens + ((nowMs - known.atMs) / 1_000) * perSec);
    const isEmpty = tokens < 1;
    buckets.set(owner, { tokens: isEmpty ? tokens : tokens - 1, atMs: nowMs });
    return isEmpty ? Math.ceil((1 - tokens) / perSec) : undefined;
  };
}
