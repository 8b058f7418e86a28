import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processEnv } from '../helpers/process-env.ts';

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
const withinMs = 240_000;

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
