const dayMs = 86_400_000;
const wholeTime: Intl.DateTimeFormatOptions = {
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
};

const kept = new Map<string, Intl.DateTimeFormat>();

/** To make one takes longer than to use it often. */
function formatOf(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${timeZone} ${Object.keys(options)}`;
  const known = kept.get(key) ?? new Intl.DateTimeFormat('en', { ...options, timeZone });
  kept.set(key, known);
  return known;
}

/** Such as `UTC+3`, at that time. */
export function zoneName(zone: string, ms = Date.now()): string {
  const format = formatOf(zone, { timeZoneName: 'shortOffset' });
  const { value } = format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')!;
  return value.replace('GMT', 'UTC').replace(/\+0$/, '');
}

/** What the clocks of the zone show, as `2026-11-15T22:00:00`. */
export function wallClockIn(zone: string, ms: number): string {
  const parts = formatOf(zone, wholeTime).formatToParts(ms);
  const of = (type: string) => parts.find(part => part.type === type)!.value;
  return `${of('year')}-${of('month')}-${of('day')}T${of('hour')}:${of('minute')}:${of('second')}`;
}

export const dayIn = (zone: string, ms = Date.now()): string => wallClockIn(zone, ms).slice(0, 10);

export const addDays = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10);

/**
 * The moment at which the clocks of the zone show a time such as `2026-11-15T22:00`: the first one if they show it twice, and the one
 * after it if they leave it out. Empty for no time.
 */
export function instantIn(zone: string, text: string): string {
  const shown = Date.parse(`${text}Z`);
  // Of a URL that somebody has typed: the server refuses it.
  if (Number.isNaN(shown)) return text;
  const offsets = [shown - dayMs, shown + dayMs].map(ms => Date.parse(`${wallClockIn(zone, ms)}Z`) - ms);
  const moments = offsets.map(offset => shown - offset).sort((one, other) => one - other);
  const first = moments.find(ms => wallClockIn(zone, ms).startsWith(text)) ?? moments.at(-1)!;
  return new Date(first).toISOString();
}
