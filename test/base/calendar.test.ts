import { describe, expect, test } from 'vitest';
import {
  addDays,
  createWallClock,
  dayIn,
  parseTimeZone,
  periodOfDays,
  startOfDay,
} from '../../src/base/calendar.ts';

const hourMs = 3_600_000;
const start = (zone: string, day: string) => startOfDay(zone, day).toISOString();

test('a zone is a name of the IANA database', () => {
  expect(parseTimeZone('Europe/Moscow')).toBe('Europe/Moscow');
  expect(parseTimeZone('europe/moscow')).toBe('Europe/Moscow');
  expect(parseTimeZone('UTC')).toBe('UTC');
  expect(parseTimeZone('Asia/Kolkata')).toBe('Asia/Kolkata');
  expect(parseTimeZone('America/Argentina/Buenos_Aires')).toBe('America/Argentina/Buenos_Aires');
  for (const wrong of [
    '',
    'Moscow',
    'Europe/Nowhere',
    '+03:00',
    'EST',
    'Europe/Moscow\u0000',
    `Europe/${'a'.repeat(80)}`,
  ])
    expect(parseTimeZone(wrong), wrong).toBeUndefined();
});

describe('a day of a zone', () => {
  test('begins when its calendar shows it', () => {
    expect(start('Europe/Moscow', '2026-11-01')).toBe('2026-10-31T21:00:00.000Z');
    expect(start('UTC', '2026-11-01')).toBe('2026-11-01T00:00:00.000Z');
    expect(start('Asia/Kathmandu', '2026-11-01')).toBe('2026-10-31T18:15:00.000Z');
    expect(dayIn('Europe/Moscow', Date.parse('2026-10-31T20:59:59.999Z'))).toBe('2026-10-31');
    expect(dayIn('Europe/Moscow', Date.parse('2026-10-31T21:00:00Z'))).toBe('2026-11-01');
  });

  test('has 23 or 25 hours where the clocks change, and begins at one where midnight is left out', () => {
    const hours = (day: string, zone = 'Europe/Berlin') => {
      const { start, end } = periodOfDays(zone, day);
      return (end.getTime() - start.getTime()) / hourMs;
    };
    expect(hours('2026-03-29')).toBe(23);
    expect(hours('2026-10-25')).toBe(25);
    expect(hours('2026-06-01')).toBe(24);
    // In Beirut midnight of that day is one o'clock; in Havana one o'clock is midnight again.
    expect(start('Asia/Beirut', '2026-03-29')).toBe('2026-03-28T22:00:00.000Z');
    expect(hours('2026-03-29', 'Asia/Beirut')).toBe(23);
    expect(start('America/Havana', '2026-11-01')).toBe('2026-11-01T04:00:00.000Z');
    expect(hours('2026-11-01', 'America/Havana')).toBe(25);
  });

  test('follows the one before it without a gap, in every zone', () => {
    for (const zone of ['UTC', 'Europe/Moscow', 'America/St_Johns', 'Pacific/Apia', 'Australia/Lord_Howe'])
      for (let day = '2026-01-01'; day < '2027-01-01'; day = addDays(day, 1)) {
        const { start, end } = periodOfDays(zone, day);
        const found = [start.getTime() - 1, start.getTime(), end.getTime() - 1].map(ms => dayIn(zone, ms));
        expect([zone, ...found]).toEqual([zone, addDays(day, -1), day, day]);
      }
  });
});

test('the clocks on the wall are those of the time that is asked, also after a change', () => {
  const wallClock = createWallClock('Europe/Berlin');
  const shown = (at: string) => wallClock(new Date(at)).toISOString();
  expect(shown('2026-03-29T00:59:59.999Z')).toBe('2026-03-29T01:59:59.999Z');
  expect(shown('2026-03-29T01:00:00.000Z')).toBe('2026-03-29T03:00:00.000Z');
  expect(shown('2026-03-29T00:59:59.999Z')).toBe('2026-03-29T01:59:59.999Z');
});
