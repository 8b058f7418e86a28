import { expect, test } from 'vitest';
import { dayIn, instantIn, wallClockIn, zoneName } from '../../web/src/parts/zone.ts';

test('pages show and read times by the clocks of the zone', () => {
  const ms = Date.parse('2026-10-31T21:30:05Z');
  expect(wallClockIn('Europe/Moscow', ms)).toBe('2026-11-01T00:30:05');
  expect(dayIn('Europe/Moscow', ms)).toBe('2026-11-01');
  expect(dayIn('UTC', ms)).toBe('2026-10-31');
  expect(instantIn('Europe/Moscow', '2026-11-01T00:30')).toBe('2026-10-31T21:30:00.000Z');
  expect(instantIn('UTC', '2026-11-01T00:30:05')).toBe('2026-11-01T00:30:05.000Z');
  expect(['UTC', 'Europe/Moscow', 'Asia/Kathmandu'].map(zone => zoneName(zone, ms))).toEqual([
    'UTC',
    'UTC+3',
    'UTC+5:45',
  ]);
});

test('a time that the clocks show twice is the first one, and one that they leave out the one after it', () => {
  expect(instantIn('Europe/Berlin', '2026-10-25T02:30')).toBe('2026-10-25T00:30:00.000Z');
  expect(instantIn('Europe/Berlin', '2026-03-29T02:30')).toBe('2026-03-29T01:30:00.000Z');
});

test('what is no time is left to the server', () => {
  expect(instantIn('Europe/Moscow', '')).toBe('');
  expect(instantIn('Europe/Moscow', 'tomorrow')).toBe('tomorrow');
});
