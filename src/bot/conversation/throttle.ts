import { createBoundedCache } from '../../base/bounded-cache.ts';
import type { Clock } from '../../base/clock.ts';
import { createTokenBuckets } from '../../base/token-buckets.ts';

/** More than a person does for long; a flood would only delay the updates of others. */
const rate = { perSec: 2, burst: 30 };
const maxUsers = 10_000;

/** The user gets one message about being throttled; further updates are dropped silently. */
export type ThrottleDecision = 'allowed' | 'throttled' | 'throttled_again';

/** Memory is enough, since one process at a time handles the updates of a user. */
export function createThrottle(clock: Clock): (userId: bigint) => ThrottleDecision {
  const takeToken = createTokenBuckets(clock, rate);
  const throttled = createBoundedCache<boolean>(maxUsers);
  return userId => {
    const user = `${userId}`;
    const wasThrottled = throttled.get(user);
    const isThrottled = takeToken(user) !== undefined;
    throttled.set(user, isThrottled);
    if (!isThrottled) return 'allowed';
    return wasThrottled ? 'throttled_again' : 'throttled';
  };
}
