import { addDays, createWallClock, dayIn, periodOfDays } from '../base/calendar.ts';
import type { Clock } from '../base/clock.ts';
import { parseDay } from '../base/instants.ts';

/** Days of the partner's calendar, both included, and the times at which they begin and end. */
export interface ReportPeriod {
  timeZone: string;
  from: string;
  to: string;
  start: Date;
  end: Date;
}

/** A leap year. A report of a day has tens of thousands of rows with some partners. */
const maxDays = 366;

/** Why there is no report of these days. */
export const badPeriods = {
  not_days: 'Choose two days of the calendar, such as 2026-10-01 and 2026-10-31.',
  backwards: 'The first day must not be after the last one.',
  too_long: 'Choose a period of at most a year.',
  future: 'The period must not end after today.',
} as const;
export type BadPeriod = keyof typeof badPeriods;

/** The days as a person chose them. Today is the last day that can be part of a report. */
export function readWantedPeriod(
  clock: Clock,
  timeZone: string,
  { from, to }: { from: string; to: string },
): ReportPeriod | BadPeriod {
  if (!parseDay(from) || !parseDay(to)) return 'not_days';
  if (from > to) return 'backwards';
  if (to > dayIn(timeZone, clock.nowMs())) return 'future';
  if (addDays(from, maxDays) <= to) return 'too_long';
  return { timeZone, from, to, ...periodOfDays(timeZone, from, to) };
}

/** `2026-10-31` as people of Russia write it, and as a file in English does. */
export const dayText = (day: string) => day.split('-').toReversed().join('.');

/** How a report writes times: `31.10.2026 23:59:59`, by the clocks of the partner. */
export function createTimeText(timeZone: string): (at: Date) => string {
  const wallClock = createWallClock(timeZone);
  return at => {
    const [day = '', time = ''] = wallClock(at).toISOString().slice(0, 19).split('T');
    return `${dayText(day)} ${time}`;
  };
}
