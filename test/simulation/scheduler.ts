import type { Clock } from '../../src/base/clock.ts';
import { nextLoopTurn } from '../../src/db/batching/batch.ts';
import type { Random } from '../helpers/random.ts';

/** A scheduled step: a statement runs, a message arrives, a timer fires. */
export interface Step {
  at: number;
  /** The process whose code it runs; a crash of the process removes the step. Null: it runs in any case. */
  processName: string | null;
  run(): void | Promise<void>;
  /** What may still happen outside when the process crashes: its message or statement was already sent. */
  afterCrash?: () => void | Promise<void>;
  /** A sleep of a polling worker: its length, and when there could be work. */
  idle?: { ms: number; nextDueMs: NextDue; leadMs: number };
}

type NextDue = () => Promise<number>;

export type NewStep = Omit<Step, 'at' | 'processName'> & { processName?: string | null };

/**
 * How a worker polls: its poll intervals, and when a poll could find work. Its other sleeps are never shortened or
 * extended.
 */
export interface Polling {
  everyMs: number[];
  nextDueMs: NextDue;
  /** How long before there could be work it polls the last time; 0 by default. */
  leadMs?: number;
}

/**
 * A deterministic scheduler. Time advances only when nothing is left to do at this moment; of all steps that are ready,
 * the seed picks one. Polls that could find nothing are skipped, since they change nothing.
 */
export function createScheduler(random: Random, startMs: number) {
  let nowMs = startMs;
  const steps = new Set<Step>();
  const stalledUntil = new Map<string, number>();
  const dead = new Set<string>();

  function after(delayMs: number, { processName = null, ...rest }: NewStep): Step {
    const earliest = (processName && !rest.afterCrash && stalledUntil.get(processName)) || 0;
    const step = { ...rest, processName, at: Math.max(nowMs + Math.max(delayMs, 0), earliest) };
    if (!processName || !dead.has(processName)) steps.add(step);
    return step;
  }

  const earliest = (which: (step: Step) => boolean) => {
    let at = Number.POSITIVE_INFINITY;
    for (const step of steps) if (step.at < at && which(step)) at = step.at;
    return at;
  };

  async function skipIdlePolls(): Promise<void> {
    const busyAt = earliest(step => !step.idle);
    const idleAt = earliest(step => Boolean(step.idle));
    if (idleAt >= busyAt) return;
    const dueMs = new Map<NextDue, number>();
    for (const { idle } of steps) if (idle) dueMs.set(idle.nextDueMs, Number.POSITIVE_INFINITY);
    for (const nextDueMs of dueMs.keys()) dueMs.set(nextDueMs, await nextDueMs());
    // A kind of worker that has nothing to wait for moves along with the others.
    const sometime = Math.min(busyAt, ...dueMs.values());
    if (sometime === Number.POSITIVE_INFINITY) return;
    for (const step of steps) {
      if (!step.idle) continue;
      const due = Math.min(busyAt, dueMs.get(step.idle.nextDueMs)!);
      const until = (due === Number.POSITIVE_INFINITY ? sometime : due) - step.idle.leadMs;
      // A worker that polls rarely polls exactly then: until it does, the polls of the others find nothing.
      const everyMs = step.idle.ms > 5_000 ? 1 : step.idle.ms;
      if (step.at < until) step.at += Math.ceil((until - step.at) / everyMs) * everyMs;
    }
  }

  return {
    nowMs: () => nowMs,
    after,
    cancel: (step: Step) => void steps.delete(step),
    /** Removes all pending steps of the process, and ignores later ones. */
    removeProcess: (processName: string) => {
      dead.add(processName);
      const removed = [...steps].filter(step => step.processName === processName);
      for (const step of removed) steps.delete(step);
      return removed;
    },
    /** The process stops for this time, except for what it has sent already; it does not notice. */
    stall: (processName: string, ms: number) => {
      stalledUntil.set(processName, nowMs + ms);
      for (const step of steps)
        if (step.processName === processName && !step.afterCrash) step.at = Math.max(step.at, nowMs + ms);
    },
    isStalled: (processName: string) => (stalledUntil.get(processName) ?? 0) > nowMs,
    /** Runs one step, and all code that waited for it as far as it gets. */
    next: async () => {
      let ready = [...steps].filter(step => step.at <= nowMs);
      if (ready.length === 0) {
        await skipIdlePolls();
        nowMs = Math.max(
          nowMs,
          earliest(() => true),
        );
        ready = [...steps].filter(step => step.at <= nowMs);
      }
      if (ready.length === 0) return;
      const step = random.pick(ready);
      steps.delete(step);
      await step.run();
      // Code that waits one turn of the event loop, as batches do, continues in the first; its effects end by the second.
      await nextLoopTurn();
      await nextLoopTurn();
    },
    clockOf: (processName: string, polling?: Polling): Clock => ({
      nowMs: () => nowMs,
      monotonicMs: () => nowMs,
      sleep: (ms, signal) =>
        new Promise(resolve => {
          if (signal?.aborted) return resolve();
          const done = () => {
            steps.delete(timer);
            signal?.removeEventListener('abort', done);
            resolve();
          };
          const idle = polling?.everyMs.includes(ms) && {
            idle: { ms, nextDueMs: polling.nextDueMs, leadMs: polling.leadMs ?? 0 },
          };
          const timer = after(ms, { processName, run: done, ...idle });
          signal?.addEventListener('abort', done);
        }),
      timer: (ms, run) => {
        const timer = after(ms, { processName, run });
        return () => steps.delete(timer);
      },
    }),
  };
}

export type Scheduler = ReturnType<typeof createScheduler>;
