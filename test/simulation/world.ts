import { createHash } from 'node:crypto';
import type { Pool } from '../../src/db/pool.ts';
import type { Random } from '../helpers/random.ts';
import type { Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';

/** What everybody in a run shares. Who acts in it (partners, the bank side, operators, bad luck) is put in by `run.ts`. */
export interface World {
  random: Random;
  scheduler: Scheduler;
  pool: Pool;
  /** As they are now; nothing goes wrong any more once the run has become calm. */
  faults: Faults;
  /** When the faults stopped. */
  calmSinceMs: number | undefined;
  trace: Trace;
  /** A rule does not hold: the run ends here. */
  violate(rule: string, detail: string): void;
  counts: { payments: number; crashes: number; steps: number };
}

export interface Violation {
  rule: string;
  detail: string;
}

/** What happened, step by step. Ids are random, so each is called by the order of its first appearance. */
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

/** How long a message is on its way. */
export function wireDelayMs({ random, faults }: World): number {
  if (random.chance(faults.messageLate)) return random.between(10_000, 180_000);
  return random.chance(0.7) ? random.between(0, 40) : random.between(40, 1_500);
}
