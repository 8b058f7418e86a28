import type { Clock } from '../../src/base/clock.ts';
import { nextLoopTurn } from '../../src/db/batch.ts';
import type { Random } from '../helpers/random.ts';

/** Something that will happen: a statement runs, a message arrives, a timer goes off. */
export interface Step {
  at: number;
  /** Whose code it runs; the step is gone with the process. Null: nobody's, it happens whoever dies. */
  owner: string | null;
  run(): void | Promise<void>;
  /** What may still happen on the outside when the owner dies: its message or its statement was sent already. */
  afterDeath?: () => void | Promise<void>;
  /** A sleep of somebody who only looks whether there is work: how long it is, and when there could be any. */
  idle?: { ms: number; nextDueMs: NextDue };
}

type NextDue = () => Promise<number>;

export type NewStep = Omit<Step, 'at' | 'owner'> & { owner?: string | null };

export interface Scheduler {
  nowMs(): number;
  after(delayMs: number, step: NewStep): Step;
  cancel(step: Step): void;
  /** Takes away all that the process has pending, for ever. */
  bury(owner: string): Step[];
  /** Nothing of the process moves for so long, but for what it has sent already; it does not know. */
  stall(owner: string, ms: number): void;
  isStalled(owner: string): boolean;
  /** One thing happens, and everybody who waited for it goes on as far as they can. */
  next(): Promise<void>;
  clockOf(owner: string, looks?: Looks): Clock;
}

/**
 * Of a worker that looks for work: how long it sleeps between two looks, and when a look could find anything. Its other
 * sleeps are never cut short or drawn out.
 */
export interface Looks {
  everyMs: number[];
  nextDueMs: NextDue;
}

/**
 * Time moves only when nothing is left to do at this moment; of all that may happen now, chance picks one. Looks of idle
 * workers that could find nothing are left out, since they change nothing.
 */
export function createScheduler(random: Random, startMs: number): Scheduler {
  let nowMs = startMs;
  const steps = new Set<Step>();
  const stalledUntil = new Map<string, number>();
  const dead = new Set<string>();

  function after(delayMs: number, { owner = null, ...rest }: NewStep): Step {
    const earliest = (owner && !rest.afterDeath && stalledUntil.get(owner)) || 0;
    const step = { ...rest, owner, at: Math.max(nowMs + Math.max(delayMs, 0), earliest) };
    if (!owner || !dead.has(owner)) steps.add(step);
    return step;
  }

  const earliest = (which: (step: Step) => boolean) => {
    let at = Number.POSITIVE_INFINITY;
    for (const step of steps) if (step.at < at && which(step)) at = step.at;
    return at;
  };

  async function skipIdleLooks(): Promise<void> {
    const busyAt = earliest(step => !step.idle);
    const idleAt = earliest(step => Boolean(step.idle));
    if (idleAt >= busyAt) return;
    const dueMs = new Map<NextDue, number>();
    for (const { idle } of steps) if (idle) dueMs.set(idle.nextDueMs, Number.POSITIVE_INFINITY);
    for (const nextDueMs of dueMs.keys()) dueMs.set(nextDueMs, await nextDueMs());
    // Where one kind of worker has nothing to wait for, it moves along with the others.
    const sometime = Math.min(busyAt, ...dueMs.values());
    if (sometime === Number.POSITIVE_INFINITY) return;
    for (const step of steps) {
      if (!step.idle) continue;
      const due = Math.min(busyAt, dueMs.get(step.idle.nextDueMs)!);
      const until = due === Number.POSITIVE_INFINITY ? sometime : due;
      // Who looks seldom looks just then: the others would look in vain for as long as it does not.
      const everyMs = step.idle.ms > 5_000 ? 1 : step.idle.ms;
      if (step.at < until) step.at += Math.ceil((until - step.at) / everyMs) * everyMs;
    }
  }

  return {
    nowMs: () => nowMs,
    after,
    cancel: step => void steps.delete(step),
    bury: owner => {
      dead.add(owner);
      const buried = [...steps].filter(step => step.owner === owner);
      for (const step of buried) steps.delete(step);
      return buried;
    },
    stall: (owner, ms) => {
      stalledUntil.set(owner, nowMs + ms);
      for (const step of steps)
        if (step.owner === owner && !step.afterDeath) step.at = Math.max(step.at, nowMs + ms);
    },
    isStalled: owner => (stalledUntil.get(owner) ?? 0) > nowMs,
    next: async () => {
      let ready = [...steps].filter(step => step.at <= nowMs);
      if (ready.length === 0) {
        await skipIdleLooks();
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
      // Those who wait a turn for company, as batches do, go on in the first; what follows from it is over by the second.
      await nextLoopTurn();
      await nextLoopTurn();
    },
    clockOf: (owner, looks) => ({
      nowMs: () => nowMs,
      sleep: (ms, signal) =>
        new Promise(resolve => {
          if (signal?.aborted) return resolve();
          const done = () => {
            steps.delete(timer);
            signal?.removeEventListener('abort', done);
            resolve();
          };
          const idle = looks?.everyMs.includes(ms) && { idle: { ms, nextDueMs: looks.nextDueMs } };
          const timer = after(ms, { owner, run: done, ...idle });
          signal?.addEventListener('abort', done);
        }),
    }),
  };
}
