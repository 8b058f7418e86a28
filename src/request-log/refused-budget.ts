import { createBoundedCache } from '../base/bounded-cache.ts';
import type { Clock } from '../base/clock.ts';

/**
 * How many refused requests are recorded: of one partner, and of all callers without a valid key together. A person who tries
 * out an integration stays far below. A flood adds two rows a second to a process, which are 1.2 million a week.
 */
const refused = { burst: 300, perSecond: 2 };
/**
 * Failures (5xx) are counted apart, so that the requests of an outage can be found. Their keys were not checked, so they are
 * counted by network: one that sends many leaves the budget of others. All together fill only half of what may wait.
 */
const failed = { burst: 1_000, perSecond: 5 };
const allFailed = { burst: 5_000, perSecond: 10 };

interface Refused {
  keyHolder?: { partnerId: string } | undefined;
  network?: string | undefined;
  status: number;
}

/** Bounds how many requests are recorded that no rate limit bounds. */
export function createRefusedBudget(clock: Clock): (request: Refused) => boolean {
  const takeRefusal = createBudget(clock, refused);
  const takeFailure = createBudget(clock, failed);
  const takeAnyFailure = createBudget(clock, allFailed);
  return ({ keyHolder, network = '', status }) =>
    status < 500
      ? takeRefusal(keyHolder?.partnerId ?? '')
      : takeFailure(keyHolder?.partnerId ?? network) && takeAnyFailure('');
}

const maxOwners = 1_000;

/** A token bucket per owner, such as a partner. */
function createBudget(clock: Clock, { burst, perSecond }: typeof refused): (owner: string) => boolean {
  const buckets = createBoundedCache<{ tokens: number; atMs: number }>(maxOwners);
  return owner => {
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
  };
}
