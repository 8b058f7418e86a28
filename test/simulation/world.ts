import type { Pool } from '../../src/db/postgres/pool.ts';
import type { Mode } from '../../src/ledger/index.ts';
import type { Random } from '../helpers/random.ts';
import type { Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';

/** What all parts of a run share. `run.ts` adds the actors: partners, bank side, operators, process failures. */
export interface World {
  random: Random;
  scheduler: Scheduler;
  pool: Pool;
  /** How many payments partners want at most. */
  maxPayments: number;
  /** The current fault probabilities; `noFaults` near the end of the run. */
  faults: Faults;
  /** When the faults stopped. */
  faultsStoppedMs: number | undefined;
  /** In a run of one payment and one failure. */
  script: Script | undefined;
  points: CrashPoints | undefined;
  trace: Trace;
  /** How far the clock of any process may have been off so far, by its own account. */
  clockErrorMs: number;
  /** Reports a broken rule and ends the run. */
  violate(rule: string, detail: string): void;
  counts: {
    payments: number;
    crashes: number;
    steps: number;
    losses: number;
    rebuilt: number;
    /** In runs with a chain: how often each fault of `chain-faults.ts` happened. */
    chainFaults: Record<string, number>;
  };
}

/** A run of one payment, with a process that fails at a point instead of at random. */
export interface Script {
  mode: Mode;
  kopecks: number;
  /** Of the order, and of the messages to pay it. All others arrive. */
  faults: Partial<Faults>;
  /** How long the request to pay is on its way. */
  payTakesMs?: number;
  /** The answer to the first poll is lost. */
  losesFirstPoll?: boolean;
  /**
   * One after the other. "Before" is before anything left the process; "after" is when the answer has arrived and the code has
   * not seen it.
   */
  points: string[];
  /** A process that stands still is presumed dead, and goes on when another one has finished its payments. */
  fate: 'dies' | 'stands still';
  /** The payment has a locked quote, is refunded, or its events are sent to an endpoint that is removed. */
  beside?: 'quotes' | 'refunds' | 'endpoints';
}

export interface CrashPoints {
  /** What happens to a process here, if anything: it resolves when the process goes on, and never if it dies. */
  at(processName: string, at: string): (() => Promise<void>) | undefined;
  /** The points that were reached so far. */
  reached: string[];
  /** Called with each of them. */
  onReached: (place: string) => void;
}

export interface Violation {
  rule: string;
  detail: string;
}

/** The log of a run. Ids are random, so each is named by the order of its first appearance. */
export function createTrace(elapsedMs: () => number) {
  const lines: string[] = [];
  const names = new Map<string, string>();
  function nameOf(id: string): string {
    const name = names.get(id) ?? `${id.slice(0, 3)}${names.size + 1}`;
    names.set(id, name);
    return name;
  }
  const named = (text: string) => text.replace(/\b(?:evt_\d+|[a-z]{3}_\w{26})\b/g, nameOf);
  return {
    lines,
    /** With names for ids. */
    named,
    add: (who: string, what: string) =>
      void lines.push(named(`${(elapsedMs() / 1000).toFixed(3).padStart(10)} s  ${who}: ${what}`)),
  };
}

type Trace = ReturnType<typeof createTrace>;

/** Steps of one actor that are still to come. */
export function createAgenda({ scheduler }: Pick<World, 'scheduler'>) {
  let planned = 0;
  return {
    after: (delayMs: number, act: () => void | Promise<void>) => {
      planned += 1;
      const run = () => {
        planned -= 1;
        return act();
      };
      scheduler.after(delayMs, { run });
    },
    isEmpty: () => planned === 0,
  };
}

/** The network delay of a message. */
export function wireDelayMs({ random, faults }: Pick<World, 'random' | 'faults'>): number {
  if (random.chance(faults.messageLate)) return random.between(10_000, 180_000);
  return random.chance(0.7) ? random.between(0, 40) : random.between(40, 1_500);
}

/** One participant of a run: the partners, the operator, process failures, the administration of webhooks. */
export interface Actor {
  /** Schedules its actions. */
  plan(span: Span): void | Promise<void>;
  /** No faults are injected from now on. */
  stopFaults?(): void;
  /** It waits for nothing and has nothing left to do. */
  isDone?(): boolean;
}

export interface Span {
  /** How long partners request new payments. */
  busyMs: number;
  /** When fault injection stops. */
  faultsEndAfterMs: number;
}
