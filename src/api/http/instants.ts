import { parseDay, parseInstant } from '../../base/instants.ts';
import { shapeError } from './errors.ts';

/** A day in the query string. */
export function readDay(text: string, name: string): Date {
  const day = parseDay(text);
  if (day) return day;
  throw shapeError(['query', name], 'Input should be a day, such as 2026-11-15', 'date_parsing');
}

/** An instant in the query string, where a bare plus means a space: a time of ours can be sent back unescaped. */
export function readInstant(text: string | undefined, name: string): Date | undefined {
  if (text === undefined) return undefined;
  const instant = parseInstant(text.replace(/ (?=\d\d:\d\d$)/, '+'));
  if (instant) return instant;
  throw shapeError(
    ['query', name],
    'Input should be a time with its offset, such as 2026-11-15T10:00:00Z',
    'datetime_parsing',
  );
}
