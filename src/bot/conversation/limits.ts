import type { Clock } from '../../base/clock.ts';

/** A person presses no faster than this for long; what is over it would only keep others waiting. */
const perSecond = 2;
const burst = 30;
const mostRemembered = 10_000;

export type Admittance = 'welcome' | 'too_fast' | 'too_fast_and_told';

/** Only one process hears people, so that its memory is enough. */
export function createLimits(clock: Clock): (userId: bigint) => Admittance {
  const buckets = new Map<bigint, { tokens: number; filledMs: number; told: boolean }>();
  return userId => {
    const nowMs = clock.nowMs();
    const bucket = buckets.get(userId) ?? { tokens: burst, filledMs: nowMs, told: false };
    const gained = (Math.max(0, nowMs - bucket.filledMs) / 1_000) * perSecond;
    const tokens = Math.min(burst, bucket.tokens + gained);
    if (buckets.size >= mostRemembered) buckets.clear();
    const isWelcome = tokens >= 1;
    buckets.set(userId, { tokens: isWelcome ? tokens - 1 : tokens, filledMs: nowMs, told: !isWelcome });
    if (isWelcome) return 'welcome';
    return bucket.told ? 'too_fast_and_told' : 'too_fast';
  };
}
