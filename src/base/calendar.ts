/**
 * Days and times of day in a time zone (IANA name). What is stored and what the API shows stays UTC: this is for what people of a
 * partner read and choose.
 */
import { dayMs } from './clock.ts';

/** A zone of the IANA database: names with a slash, and UTC. Abbreviations such as EST and offsets such as +03:00 are none. */
const zoneName = /^(?:UTC|[A-Za-z_]+(?:\/[A-Za-z0-9_+-]+){1,2})$/;
const maxZoneLength = 64;

/** The zone as it is stored; undefined if there is none of this name. */
export function parseTimeZone(text: string): string | undefined {
  if (text.length > maxZoneLength || !zoneName.test(text)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions();
    // A name that was replaced, such as Asia/Kolkata here, resolves to another one: the partner keeps theirs.
    return timeZone.toLowerCase() === text.toLowerCase() ? timeZone : text;
  } catch {
    return undefined;
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** To make one takes longer than to use it a hundred times. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timeZone, made);
  return made;
}

/** How far the clocks of the zone are ahead of UTC at that time. */
function offsetMs(timeZone: string, ms: number): number {
  const parts = formatOf(timeZone).formatToParts(ms);
  const value = (type: string) => Number(parts.find(part => part.type === type)!.value);
  const shown = Date.UTC(
    value('year'),
    value('month') - 1,
    value('day'),
    value('hour'),
    value('minute'),
    value('second'),
  );
  return shown - Math.floor(ms / 1000) * 1000;
}

/** Zones change their offset at full quarters of an hour. */
const quarterMs = 15 * 60_000;

/**
 * What the clocks of a zone show, as a date whose UTC fields have it: `toISOString` then writes the local time. It remembers the
 * last quarter of an hour, since a report asks for a million times in their order.
 */
export function createWallClock(timeZone: string): (at: Date) => Date {
  let quarter = Number.NaN;
  let offset = 0;
  return at => {
    const ms = at.getTime();
    const asked = Math.floor(ms / quarterMs);
    if (asked !== quarter) [quarter, offset] = [asked, offsetMs(timeZone, ms)];
    return new Date(ms + offset);
  };
}

/** The day that the calendar of the zone shows, such as `2026-11-15`. */
export const dayIn = (timeZone: string, ms: number): string =>
  new Date(ms + offsetMs(timeZone, ms)).toISOString().slice(0, 10);

export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);

/**
 * The first moment of a day of the zone. Where clocks change at midnight, it may be at one in the morning, or midnight may come
 * twice: then the first one counts.
 */
export function startOfDay(timeZone: string, day: string): Date {
  const midnight = Date.parse(day);
  const offsets = [midnight - dayMs, midnight + dayMs].map(ms => offsetMs(timeZone, ms));
  const candidates = offsets.map(offset => midnight - offset).sort((one, other) => one - other);
  return new Date(candidates.find(ms => dayIn(timeZone, ms) === day) ?? candidates.at(-1)!);
}

/** From the first moment of a day to that of the day after another: its end is not part of it. */
export const periodOfDays = (timeZone: string, from: string, to = from) => ({
  start: startOfDay(timeZone, from),
  end: startOfDay(timeZone, addDays(to, 1)),
});
