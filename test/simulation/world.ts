import { createHash } from 'node:crypto';
import type { Pool } from '../../src/db/pool.ts';
import type { Random } from '../helpers/random.ts';
import type { CrashPoints, Script } from './crash-points.ts';
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

export interface Violation {
  rule: string;
  detail: string;
}

/** The log of a run. Ids are random, so each is named by the order of its first appearance. */
export interface Trace {
  lines: string[];
  add(who: string, what: string): void;
  nameOf(id: string): string;
  digest(): string;
}

export function createTrace(elapsedMs: () => number): Trace {
  const lines: string[] = [];
  const names = new Map<string, string>();
  const nameOf = (id: string) => {
    const name = names.get(id) ?? `${id.slice(0, 3)}${names.size + 1}`;
    names.set(id, name);
    return name;
  };
  return {
    lines,
    nameOf,
    add: (who, what) => void lines.push(`${(elapsedMs() / 1000).toFixed(3).padStart(10)} s  ${who}: ${what}`),
    digest: () => createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 16),
  };
}

/** The network delay of a message. */
export function wireDelayMs({ random, faults }: Pick<World, 'random' | 'faults'>): number {
  if (random.chance(faults.messageLate)) return random.between(10_000, 180_000);
  return random.chance(0.7) ? random.between(0, 40) : random.between(40, 1_500);
}
