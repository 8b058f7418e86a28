/** The one parser for days and instants that people and programs send. Formatting is `Date.toISOString`. */

const dayPattern = /^\d{4}-\d\d-\d\d$/;
const instantPattern =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.(\d{1,6}))?)?(?:Z|[+-]\d\d:\d\d)$/;

/** A UTC day such as 2026-11-15, at its beginning; undefined if there is no such day. */
export function parseDay(text: string): Date | undefined {
  const start = dayPattern.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
  // JavaScript reads 2026-02-30 as 2 March.
  return start?.toJSON()?.startsWith(text) ? start : undefined;
}

/**
 * ISO 8601 with offset, such as 2026-11-15T10:00:00Z; undefined if there is no such time. The service counts in
 * milliseconds, so a finer time is rounded up: "created at or after it" then holds exactly.
 */
export function parseInstant(text: string): Date | undefined {
  const [, day = '', fraction = ''] = instantPattern.exec(text) ?? [];
  const ms = parseDay(day) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) return undefined;
  return new Date(ms + (/[1-9]/.test(fraction.slice(3)) ? 1 : 0));
}
