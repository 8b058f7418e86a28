import { expect, vi } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { nextLoopTurn } from '../../src/db/batching/batch.ts';

/** For checks of a ledger whose entries were made with a clock of the test: none of them is in the future. */
export const endOfTime = new Date('9999-01-01T00:00:00Z');

export interface ManualClock extends Clock {
  /**
   * Moves the time at once, as for a process that was stopped for so long. Then the sleeps and timers that are due end, in
   * the order of their times, and what waited for each runs as far as it gets without other systems.
   */
  advance(ms: number): Promise<void>;
  /** Resolves when something sleeps for `ms`: a loop has ended its round. */
  asleep(ms: number): Promise<void>;
  /** Resolves when so many sleep: all loops have ended their rounds. */
  sleeping(count: () => number): Promise<void>;
  /** All loops that pause for at most four seconds run so many rounds, without moving the time, and pause again. */
  rounds(count: number): Promise<void>;
  /**
   * Resolves when the check passes. Until then pauses of at most four seconds, and timers of at most two, end at once,
   * without moving the time: loops look for work again and again, and time-outs, which are longer, do not end.
   */
  until<Result>(check: () => Result | Promise<Result>): Promise<Result>;
  /** Awaits it in the same way. */
  during<Result>(work: Promise<Result>): Promise<Result>;
}

/** Pauses in which a batch gathers end by themselves, at the next turn of the event loop: requests have them, too. */
const gatherMs = 20;
const maxTimerMs = 2_000;
const maxPauseMs = 4_000;
/** Enough for a busy machine. */
const waiting = { timeout: 100_000, interval: 2 };

interface Wait {
  at: number;
  ms: number;
  isSleep: boolean;
  end(): void;
}

/** A clock that moves only by `advance`; both its times move together. */
export function manualClock(startIso = '2026-11-15T10:00:00Z'): ManualClock {
  let nowMs = Date.parse(startIso);
  const waits = new Set<Wait>();

  const short = () => [...waits].filter(({ ms, isSleep }) => ms <= (isSleep ? maxPauseMs : maxTimerMs));
  const pausing = () => short().filter(({ ms, isSleep }) => isSleep && ms > gatherMs);
  const endPauses = () => {
    for (const wait of short()) wait.end();
  };
  function add(wait: Wait): void {
    waits.add(wait);
    if (wait.ms <= gatherMs) setImmediate(() => waits.has(wait) && wait.end());
  }

  const firstDue = () =>
    [...waits].reduce<Wait | undefined>(
      (first, wait) => (wait.at > nowMs || (first && first.at <= wait.at) ? first : wait),
      undefined,
    );

  const clock: ManualClock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    sleep: (ms, signal) =>
      new Promise(resolve => {
        if (signal?.aborted) return resolve();
        const end = () => {
          waits.delete(wait);
          signal?.removeEventListener('abort', end);
          resolve();
        };
        const wait: Wait = { at: nowMs + Math.max(ms, 0), ms, isSleep: true, end };
        add(wait);
        signal?.addEventListener('abort', end);
      }),
    timer: (ms, run) => {
      const end = () => {
        waits.delete(wait);
        run();
      };
      const wait: Wait = { at: nowMs + Math.max(ms, 0), ms, isSleep: false, end };
      add(wait);
      return () => void waits.delete(wait);
    },
    advance: async ms => {
      nowMs += ms;
      for (let due = firstDue(); due; due = firstDue()) {
        due.end();
        // Code that waits one turn of the event loop, as batches do, continues in the first; its effects end by the second.
        await nextLoopTurn();
        await nextLoopTurn();
      }
    },
    asleep: ms =>
      vi.waitFor(() => expect([...waits].some(wait => wait.isSleep && wait.ms === ms)).toBe(true), waiting),
    sleeping: count =>
      vi.waitFor(() => expect([...waits].filter(({ isSleep }) => isSleep)).toHaveLength(count()), waiting),
    rounds: async count => {
      for (let round = 0; round < count; round++) {
        const loops = pausing().length;
        endPauses();
        await vi.waitFor(() => expect(pausing().length).toBeGreaterThanOrEqual(loops), waiting);
      }
    },
    until: check =>
      vi.waitFor(() => {
        endPauses();
        return check();
      }, waiting),
    during: async work => {
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      work.then(end, end);
      await clock.until(() => expect(isOver).toBe(true));
      return work;
    },
  };
  return clock;
}
