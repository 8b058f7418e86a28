import { shapeError } from './errors.ts';

const isoInstant =
  /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.(\d{1,6}))?)?(?:Z|[+ -]\d\d:\d\d)$/;

/** A day that exists, at its beginning in UTC. */
export function readDay(text: string, name: string): Date {
  const start = new Date(`${text}T00:00:00Z`);
  if (/^\d{4}-\d\d-\d\d$/.test(text) && start.toJSON()?.startsWith(text)) return start;
  throw shapeError(['query', name], 'Input should be a day, such as 2026-11-15', 'date_parsing');
}

/**
 * A moment with its offset. Payments are timed in milliseconds, so a finer one is taken up to the next. In an address a
 * bare plus means a space: whoever passes on a time of ours as it stands is understood all the same.
 */
export function readInstant(text: string | undefined, name: string): Date | undefined {
  if (text === undefined) return undefined;
  const [, day = '', fraction = ''] = isoInstant.exec(text) ?? [];
  const exists = new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day);
  const ms = day && exists ? Date.parse(text.replace(' ', '+')) : Number.NaN;
  if (!Number.isNaN(ms)) return new Date(ms + (/[1-9]/.test(fraction.slice(3)) ? 1 : 0));
  throw shapeError(
    ['query', name],
    'Input should be a time with its offset, such as 2026-11-15T10:00:00Z',
    'datetime_parsing',
  );
}
