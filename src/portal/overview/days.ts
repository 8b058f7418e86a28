import { createBoundedCache } from '../../base/bounded-cache.ts';
import type { Clock } from '../../base/clock.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import { type AccountKey, availableBefore } from '../../ledger/index.ts';
import { type PaymentDay, readPaymentDay } from '../../payments/index.ts';

export interface Day extends PaymentDay {
  startMs: number;
  /** At its end, or now. */
  availableMicroUsdt: bigint;
}

const dayMs = 86_400_000;
/** Entries of a day may be booked this long after it. */
const completeAfterMs = 5 * 60_000;
const maxCachedDays = 20_000;
/** Then the answer has what was read, and the next one continues. */
const maxReadMs = 1_500;

/**
 * Reads days, newest first. A day that is over and whose payments are all finished never changes: it is read once and kept.
 * Undefined in place of the days that it had no time for.
 */
export function createDayReader(clock: Clock) {
  const cached = createBoundedCache<Day>(maxCachedDays);
  return async (db: Queryable, account: AccountKey, count: number): Promise<(Day | undefined)[]> => {
    const beganMs = clock.monotonicMs();
    const nowMs = clock.nowMs();
    const today = Math.floor(nowMs / dayMs) * dayMs;
    const days: (Day | undefined)[] = [];
    for (let age = 0; age < count; age++) {
      const startMs = today - age * dayMs;
      const key = `${account.partnerId} ${account.mode} ${startMs}`;
      let day = cached.get(key);
      if (!day && clock.monotonicMs() - beganMs <= maxReadMs) {
        day = {
          startMs,
          ...(await readPaymentDay(db, account, startMs)),
          availableMicroUsdt: await availableBefore(db, account, new Date(startMs + dayMs)),
        };
        const areAllFinished = day.created === day.succeeded + day.failed;
        if (areAllFinished && startMs + dayMs + completeAfterMs <= nowMs) cached.set(key, day);
      }
      days.push(day);
    }
    return days.reverse();
  };
}
