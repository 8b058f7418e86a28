import type { Random } from '../helpers/random.ts';
import type { Call } from './history.ts';
import type { Partner, World } from './world.ts';

export interface RoundOptions {
  /** False if faults hit the database: then a 503 is no proof that nothing was debited. */
  databaseIsWhole?: boolean;
  /** True if the database forgets commits: a rebuilt payment is `processing` again until the bank side was asked. */
  historyIsLost?: boolean;
  /** Whether the limits of time are checked, which a busy machine may miss. */
  checksTimes?: boolean;
}

/** One run of one nemesis: its partners, calls, faults and findings. */
export const newRound = (world: World, random: Random, partners: Partner[], options: RoundOptions) => ({
  ...{ world, random, partners },
  ...{ databaseIsWhole: false, historyIsLost: false, checksTimes: false, ...options },
  calls: [] as Call[],
  findings: [] as string[],
  faults: new Map<string, number>(),
  /** In milliseconds: named figures for the report, the longest of each. */
  longest: new Map<string, number>(),
  startedAt: new Date(),
  /** Run at the end of the round: late checks and clean-up. */
  atTheEnd: [] as (() => unknown)[],
});
export type Round = ReturnType<typeof newRound>;

export function note({ longest }: Round, figure: string, ms: number): void {
  longest.set(figure, Math.max(longest.get(figure) ?? 0, ms));
}

export function count({ faults }: Round, fault: string, times = 1): void {
  faults.set(fault, (faults.get(fault) ?? 0) + times);
}

/** Adds a finding unless the condition is true. */
export function check(round: Round, isTrue: boolean, otherwise: string): void {
  if (!isTrue) round.findings.push(otherwise);
}

/** Notes how long something took, which is wrong if it is longer than the limit. */
export function limit(round: Round, figure: string, ms: number, maxMs: number): void {
  note(round, figure, ms);
  check(round, !round.checksTimes || ms < maxMs, `${figure}: ${Math.round(ms)} ms, at most ${maxMs} ms`);
}

/** Calls the simulated bank directly, past all proxies. */
export async function callBank({ simulator }: World, method: string, path: string, body?: object) {
  const response = await fetch(`${simulator.address}${path}`, {
    method,
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Error(`${method} ${path} was answered with ${response.status}`);
  return response.json();
}
