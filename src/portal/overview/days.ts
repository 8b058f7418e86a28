import { createBoundedCache } from '../../base/bounded-cache.ts';
import { addDays, dayIn, periodOfDays } from '../../base/calendar.ts';
import type { Clock } from '../../base/clock.ts';
import type { Queryable } from '../../db/postgres/index.ts';
import { type AccountKey, availableBefore } from '../../ledger/index.ts';
import { type PaymentDay, readPaymentDay } from '../../payments/index.ts';

export interface Day extends PaymentDay {
  /** By the partner's calendar, such as `2026-11-15`. */
  name: string;
  /** At its end, or now. */
  availableMicroUsdt: bigint;
}

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
  return async (
    db: Queryable,
    account: AccountKey,
    { timeZone, count }: { timeZone: string; count: number },
  ): Promise<(Day | undefined)[]> => {
    const beganMs = clock.monotonicMs();
    const nowMs = clock.nowMs();
    const today = dayIn(timeZone, nowMs);
    const days: (Day | undefined)[] = [];
    for (let age = 0; age < count; age++) {
      const name = addDays(today, -age);
      const period = periodOfDays(timeZone, name);
      const endMs = period.end.getTime();
      const key = `${account.partnerId} ${account.mode} ${period.start.getTime()} ${endMs}`;
      let day = cached.get(key);
      if (!day && clock.monotonicMs() - beganMs <= maxReadMs) {
        day = {
          name,
          ...(await readPaymentDay(db, account, period)),
          availableMicroUsdt: await availableBefore(db, account, period.end),
        };
        const areAllFinished = day.created === day.succeeded + day.failed;
        if (areAllFinished && endMs + completeAfterMs <= nowMs) cached.set(key, day);
      }
      days.push(day);
    }
    return days.reverse();
  };
}
