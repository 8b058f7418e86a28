import type { Clock } from '../../src/base/clock.ts';

/** A clock whose pauses last until they are aborted, and are noted. */
export function notePauses(clock: Clock): { clock: Clock; pauses: number[]; timers: number[] } {
  const [pauses, timers]: [number[], number[]] = [[], []];
  return {
    pauses,
    timers,
    clock: {
      ...clock,
      sleep: (ms, signal) =>
        new Promise(resolve => {
          pauses.push(ms);
          if (signal?.aborted) resolve();
          else signal?.addEventListener('abort', () => resolve());
        }),
      timer: ms => {
        timers.push(ms);
        return () => {};
      },
    },
  };
}
