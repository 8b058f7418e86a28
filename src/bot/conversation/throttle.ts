import type { Clock } from '../../base/clock.ts';

/** More than a person does for long; a flood would only delay the updates of others. */
const perSecond = 2;
const burst = 30;
const maxUsers = 10_000;

/** The user gets one message about being throttled; further updates are dropped silently. */
export type ThrottleDecision = 'allowed' | 'throttled' | 'throttled_again';

/** A token bucket per user. Memory is enough, since one process at a time handles the updates of a user. */
export function createThrottle(clock: Clock): (userId: bigint) => ThrottleDecision {
  const buckets = new Map<bigint, { tokens: number; filledMs: number; isThrottled: boolean }>();
  return userId => {
    const nowMs = clock.monotonicMs();
    const bucket = buckets.get(userId) ?? { tokens: burst, filledMs: nowMs, isThrottled: false };
    const gained = (Math.max(0, nowMs - bucket.filledMs) / 1_000) * perSecond;
    const tokens = Math.min(burst, bucket.tokens + gained);
    if (buckets.size >= maxUsers) buckets.clear();
    const isAllowed = tokens >= 1;
    buckets.set(userId, {
      tokens: isAllowed ? tokens - 1 : tokens,
      filledMs: nowMs,
      isThrottled: !isAllowed,
    });
    if (isAllowed) return 'allowed';
    return bucket.isThrottled ? 'throttled_again' : 'throttled';
  };
}
