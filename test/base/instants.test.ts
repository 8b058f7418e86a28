import { expect, test } from 'vitest';
import { parseDay, parseInstant } from '../../src/base/instants.ts';
import { words } from '../helpers/words.ts';

test('a day is its first moment in UTC', () => {
  expect(parseDay('2026-11-15')).toEqual(new Date('2026-11-15T00:00:00.000Z'));
  expect(parseDay('2028-02-29')).toEqual(new Date('2028-02-29T00:00:00.000Z'));
});

test.each([
  ...['', '2026-02-30', '2027-02-29', '2026-13-01', '2026-00-10', '2026-11-00', '2026-1-5', '26-11-15'],
  ...[' 2026-11-15', '2026-11-15T00:00:00Z', '+002026-11-15', '15.11.2026', 'today'],
])('"%s" is not a day', text => expect(parseDay(text)).toBeUndefined());

test.each([
  ['2026-11-15T10:00Z', '2026-11-15T10:00:00.000Z'],
  ['2026-11-15T10:00:07Z', '2026-11-15T10:00:07.000Z'],
  ['2026-11-15T10:00:07.5Z', '2026-11-15T10:00:07.500Z'],
  ['2026-11-15T10:00:07.123+03:00', '2026-11-15T07:00:07.123Z'],
  ['2026-11-15T23:30:00-01:00', '2026-11-16T00:30:00.000Z'],
  ['2026-11-15T10:00:00.123000+00:00', '2026-11-15T10:00:00.123Z'],
])('%s is %s', (text, expected) => expect(parseInstant(text)?.toISOString()).toBe(expected));

test('a time finer than a millisecond is rounded up', () => {
  expect(parseInstant('2026-11-15T10:00:00.123001Z')?.toISOString()).toBe('2026-11-15T10:00:00.124Z');
  expect(parseInstant('2026-11-15T10:00:00.9999Z')?.toISOString()).toBe('2026-11-15T10:00:01.000Z');
});

test.each([
  ...['', '2026-11-15T10:00:00 03:00', '2026-11-15 10:00:00Z'],
  ...words(`2026-11-15 2026-11-15T10:00:00 2026-02-30T10:00:00Z 2026-11-15T24:00:00Z 2026-11-15T10:60:00Z
    2026-11-15T10:00:60Z 2026-11-15T10:00:00.1234567Z 2026-11-15T10:00:00+25:00 +275760-09-13T00:00:00Z
    1794737400 then`),
])('"%s" is not an instant', text => expect(parseInstant(text)).toBeUndefined());
