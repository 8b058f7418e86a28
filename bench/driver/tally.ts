import type { Window } from './plan.ts';

export interface Tally {
  sent(): void;
  unsent(): void;
  /** `problem` is undefined for an expected answer. */
  answered(problem: string | undefined, ms: number): void;
  lost(): void;
  /** Counts since the last call. */
  takeWindow(): Window;
  succeeded(): number;
}

export function createTally(): Tally {
  let since = performance.now();
  let succeededMs: number[] = [];
  let refusedMs: number[] = [];
  let counts = { sent: 0, unsent: 0 };
  let refused: Record<string, number> = {};
  let earlier = 0;
  const countProblem = (problem: string) => {
    refused[problem] = (refused[problem] ?? 0) + 1;
  };
  return {
    sent: () => void counts.sent++,
    unsent: () => void counts.unsent++,
    answered: (problem, ms) => {
      if (problem === undefined) return void succeededMs.push(ms);
      countProblem(problem);
      refusedMs.push(ms);
    },
    lost: () => countProblem('connection lost'),
    takeWindow: () => {
      const now = performance.now();
      const window = {
        seconds: (now - since) / 1_000,
        ...counts,
        succeeded: succeededMs.length,
        ...percentiles(succeededMs),
        refused,
        refusedP99Ms: percentiles(refusedMs).p99Ms,
      };
      earlier += succeededMs.length;
      since = now;
      succeededMs = [];
      refusedMs = [];
      counts = { sent: 0, unsent: 0 };
      refused = {};
      return window;
    },
    succeeded: () => earlier + succeededMs.length,
  };
}

function percentiles(times: number[]): { p50Ms: number; p99Ms: number } {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}
