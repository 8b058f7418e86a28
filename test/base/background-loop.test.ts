import { expect, test, vi } from 'vitest';
import { startBackgroundLoop } from '../../src/base/background-loop.ts';
import { type Clock, systemClock } from '../../src/base/clock.ts';

/** Sleeps end when the test says so, or when the signal does. */
function manualClock() {
  const pauses: number[] = [];
  let wake = () => {};
  const clock: Clock = {
    ...systemClock,
    nowMs: () => 0,
    monotonicMs: () => 0,
    sleep: (ms, signal) =>
      new Promise(resolve => {
        pauses.push(ms);
        wake = resolve;
        signal?.addEventListener('abort', () => resolve());
      }),
  };
  return { clock, pauses, wake: () => wake() };
}

const noErrors = () => expect.unreachable();

test('runs again after the pause, and after the one that a round asks for', async () => {
  const { clock, pauses, wake } = manualClock();
  const work = vi.fn().mockResolvedValueOnce(undefined).mockResolvedValueOnce(7).mockResolvedValue(undefined);
  const loop = startBackgroundLoop({ clock, everyMs: 100, work, onError: noErrors });
  await expect.poll(() => pauses).toEqual([100]);
  wake();
  await expect.poll(() => pauses).toEqual([100, 7]);
  await loop.stop();
  expect(work).toHaveBeenCalledTimes(2);
});

test('a round that asks for no pause is followed by the next one at once', async () => {
  const { clock, pauses } = manualClock();
  const work = vi.fn().mockResolvedValueOnce(0).mockResolvedValue(undefined);
  const loop = startBackgroundLoop({ clock, everyMs: 100, work, onError: noErrors });
  await expect.poll(() => pauses).toEqual([100]);
  expect(work).toHaveBeenCalledTimes(2);
  await loop.stop();
});

test('an error is reported and does not end the loop', async () => {
  const { clock, pauses, wake } = manualClock();
  const onError = vi.fn();
  const work = vi.fn().mockRejectedValueOnce(new Error('broken')).mockResolvedValue(undefined);
  const loop = startBackgroundLoop({ clock, everyMs: 100, afterErrorMs: 10, work, onError });
  await expect.poll(() => pauses).toEqual([10]);
  expect(onError).toHaveBeenCalledWith(new Error('broken'));
  wake();
  await expect.poll(() => pauses).toEqual([10, 100]);
  await loop.stop();
});

test('runNow ends a pause, and during a round skips the next one', async () => {
  const { clock, pauses } = manualClock();
  let endRound = () => {};
  const work = vi.fn(() => new Promise<void>(resolve => (endRound = resolve)));
  const loop = startBackgroundLoop({ clock, everyMs: 100, work, onError: noErrors });
  loop.runNow();
  endRound();
  await expect.poll(() => work.mock.calls.length).toBe(2);
  expect(pauses).toEqual([]);
  endRound();
  await expect.poll(() => pauses).toEqual([100]);
  loop.runNow();
  await expect.poll(() => work.mock.calls.length).toBe(3);
  const stopped = loop.stop();
  endRound();
  await stopped;
});

test('stop waits for the round under way and begins no other', async () => {
  const { clock } = manualClock();
  let endRound = () => {};
  const work = vi.fn(() => new Promise<void>(resolve => (endRound = resolve)));
  const loop = startBackgroundLoop({ clock, everyMs: 100, work, onError: noErrors });
  let isStopped = false;
  const stopped = loop.stop().then(() => (isStopped = true));
  await Promise.resolve();
  expect(isStopped).toBe(false);
  endRound();
  await stopped;
  expect(work).toHaveBeenCalledTimes(1);
});
