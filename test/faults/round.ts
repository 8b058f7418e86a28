import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processEnv } from '../helpers/process-env.ts';
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

const root = join(import.meta.dirname, '..', '..');

export interface Program {
  address: string;
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  output(): string;
  /** Its output, if it ended without being stopped. */
  unexpectedExit(): string | undefined;
}

/** Starts `kopeck start` or the simulator, and waits for the line with its address. */
export function startProgram(file: string, args: string[], env: Record<string, string>): Promise<Program> {
  const child = spawn(process.execPath, [join(root, file), ...args], {
    env: { ...processEnv, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let isStopping = false;
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      output += chunk;
      const address = /ready at (http:\S+)/.exec(output)?.[1];
      if (!address) return;
      resolve({
        address,
        signal: signal => void child.kill(signal),
        stop: (signal = 'SIGTERM') => {
          isStopping = true;
          child.kill(signal);
          return ended;
        },
        output: () => output,
        unexpectedExit: () =>
          isStopping || (child.exitCode === null && child.signalCode === null) ? undefined : output,
      });
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
    void ended.then(code => reject(new Error(`${file} ended with ${code}: ${output}`)));
  });
}

const pollIntervalMs = 20;
/** Nobody waits so long for a fault to be over: what may take less time is a limit of its own, which only quick machines check. */
const withinMs = 120_000;

/** Resolves with the milliseconds until the condition held. */
export async function until(what: string, condition: () => boolean | Promise<boolean>): Promise<number> {
  const startedMs = performance.now();
  while (!(await condition())) {
    if (performance.now() - startedMs > withinMs) throw new Error(`after ${withinMs} ms still not: ${what}`);
    await sleep(pollIntervalMs);
  }
  return performance.now() - startedMs;
}

/** Whether a URL is answered with 200; false if it is not answered. */
export const answersOk = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
