import { endsByKey } from './check-history.ts';
import type { Round } from './round.ts';

/** The sum of many rounds: numbers and findings. */
export interface Report {
  seed: number;
  minutes: number;
  rounds: Record<string, number>;
  calls: Record<string, number>;
  payments: Record<string, number>;
  faults: Record<string, number>;
  longestMs: Record<string, number>;
  findings: string[];
}

export const newReport = (seed: number, minutes: number): Report => ({
  seed,
  minutes,
  rounds: {},
  calls: { ok: 0, failed: 0, unknown: 0 },
  payments: { succeeded: 0, failed: 0, refused: 0 },
  faults: {},
  longestMs: {},
  findings: [],
});

export function addRound(report: Report, name: string, round: Round): void {
  add(report.rounds, name);
  for (const { what, result, startedMs, endedMs } of round.calls) {
    if (what === 'pay') add(report.calls, result.kind);
    longest(report, 'any answer', endedMs - startedMs);
  }
  for (const { end } of endsByKey(round).values()) add(report.payments, end?.status ?? 'refused');
  for (const [fault, times] of round.faults) add(report.faults, fault, times);
  for (const [figure, ms] of round.longest) longest(report, figure, ms);
  report.findings.push(...round.findings.map(finding => `${name}: ${finding}`));
}

function add(counts: Record<string, number>, name: string, times = 1): void {
  counts[name] = (counts[name] ?? 0) + times;
}

function longest({ longestMs }: Report, figure: string, ms: number): void {
  longestMs[figure] = Math.max(longestMs[figure] ?? 0, Math.round(ms));
}

export function describeReport(report: Report): string {
  const { seed, rounds, calls, payments, faults, longestMs, findings } = report;
  const section = (title: string, entries: Record<string, number>) =>
    [title, ...Object.entries(entries).map(([name, value]) => `  ${name.padEnd(40)} ${value}`)].join('\n');
  return [
    `Seed ${seed}`,
    section('Rounds', rounds),
    section('Calls that pay', calls),
    section('Payments by their end', payments),
    section('Faults', faults),
    section('Longest, in milliseconds', longestMs),
    findings.length === 0 ? 'Nothing is wrong.' : ['Wrong:', ...findings].join('\n  '),
  ].join('\n\n');
}
