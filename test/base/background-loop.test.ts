import { test as base, expect, vi } from 'vitest';
import { startBackgroundLoop } from '../../src/base/background-loop.ts';
import { manualClock } from '../helpers/clock.ts';

const noErrors = () => expect.unreachable();

/** Work that lasts until the test ends it. */
function heldWork() {
  let begun = Promise.withResolvers<void>();
  let end = () => {};
  const work = vi.fn(() => {
    begun.resolve();
    begun = Promise.withResolvers();
    return new Promise<void>(resolve => (end = resolve));
  });
  return { work, end: () => end(), nextRound: () => begun.promise };
}
const test = base.extend('clock', () => manualClock());

test('runs again after the pause, and after the one that a round asks for', async ({ clock }) => {
  const work = vi
    .fn()
    .mockResolvedValueOnce(undefined)
    .mockResolvedValueOnce(700)
    .mockResolvedValue(undefined);
  const loop = startBackgroundLoop({ clock, everyMs: 100, work, onError: noErrors });
  await clock.asleep(100);
  await clock.advance(100);
  await clock.asleep(700);
  expect(work).toHaveBeenCalledTimes(2);
  await loop.stop();
  expect(work).toHaveBeenCalledTimes(2);
});

test('a round that asks for no pause is followed by the next one at once', async ({ clock }) => {
  const work = vi.fn().mockResolvedValueOnce(0).mockResolvedValue(undefined);
  const loop = startBackgroundLoop({ clock, everyMs: 100, work, onError: noErrors });
  await clock.asleep(100);
  expect(work).toHaveBeenCalledTimes(2);
  await loop.stop();
});

test('an error is reported and does not end the loop', async ({ clock }) => {
  const onError = vi.fn();
  const work = vi.fn().mockRejectedValueOnce(new Error('broken')).mockResolvedValue(undefined);
  const loop = startBackgroundLoop({ clock, everyMs: 100, afterErrorMs: 1_000, work, onError });
  await clock.asleep(1_000);
  expect(onError).toHaveBeenCalledWith(new Error('broken'));
  await clock.advance(1_000);
  await clock.asleep(100);
  await loop.stop();
});

test('runNow ends a pause, and during a round skips the next one; stop waits for the round', async () => {
  const clock = manualClock();
  const { work, end, nextRound } = heldWork();
  const loop = startBackgroundLoop({ clock, everyMs: 100_000, work, onError: noErrors });
  loop.runNow();
  let round = nextRound();
  end();
  await round;
  end();
  await clock.asleep(100_000);
  round = nextRound();
  loop.runNow();
  await round;
  let isStopped = false;
  const stopped = loop.stop().then(() => (isStopped = true));
  await new Promise(setImmediate);
  expect(isStopped).toBe(false);
  end();
  await stopped;
  expect(work).toHaveBeenCalledTimes(3);
});
