import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Terminal } from '../../src/cli/command.ts';
import { run } from '../../src/cli/program.ts';
import { newFolder } from './folders.ts';
import { freePort } from './free-port.ts';
import { secretKey } from './partners.ts';
import { processEnv } from './process-env.ts';

const program = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.js');

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs `kopeck` with these arguments in this process: starting a process takes longer than most commands. The first may
 * be several words, such as `key list`; the rest may have spaces.
 */
export async function kopeck(env: Record<string, string>, ...args: string[]): Promise<Run> {
  const output = { stdout: '', stderr: '' };
  const screen = (name: keyof typeof output) => ({ write: (text: string) => (output[name] += text) });
  const terminal: Terminal = { env, stdout: screen('stdout'), stderr: screen('stderr') };
  const [words, ...rest] = args;
  await run([...(words?.split(' ') ?? []), ...rest], terminal);
  return { code: Number(terminal.exitCode ?? 0), ...output };
}

/** For a service: a database, a folder of its own, a fixed rate, and a gateway that never answers. */
export const serviceEnv = (databaseUrl: string) => ({
  ...{ DATABASE_URL: databaseUrl, SECRET_KEY: secretKey, DATA_DIR: newFolder() },
  ...{ GATEWAY_URL: 'http://127.0.0.1:1', RATE_SOURCES: 'fixed:92.50' },
});

/** What `kopeck doctor` says about one of its checks. */
export async function examined(env: Record<string, string>, check: string): Promise<string> {
  const { checks } = JSON.parse((await kopeck(env, 'doctor --json')).stdout);
  const { state, detail } = checks.find((one: { check: string }) => one.check === check);
  return `${state}: ${detail}`;
}

/** Runs `kopeck` as its own process. */
export const kopeckProcess = (env: Record<string, string>, ...args: string[]) =>
  runProgram(program, env, args);

/** The same for another version of it. */
export async function runProgram(file: string, env: Record<string, string>, args: string[]): Promise<Run> {
  const { output, ended } = spawnProgram(file, env, args);
  return { code: await ended, ...output };
}

/** The same while it runs. */
export function spawnProgram(file: string, env: Record<string, string>, args: string[]) {
  const child = spawn(process.execPath, [file, ...args], { env: { ...processEnv, ...env } });
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', chunk => (output.stdout += chunk));
  child.stderr.on('data', chunk => (output.stderr += chunk));
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  return { child, output, ended };
}

export interface Running {
  stdout(): string;
  stderr(): string;
  /** Sends the signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** The same for a command that runs until it is stopped. */
export function startKopeck(env: Record<string, string>, ...args: string[]): Running {
  const { child, output, ended } = spawnProgram(program, env, args);
  return {
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    stop: (signal = 'SIGINT') => {
      child.kill(signal);
      return ended;
    },
  };
}

export interface Service {
  address: string;
  readMetrics(): Promise<string>;
  pid: number;
  output(): string;
  /** Sends the signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** `kopeck start` on a free port; resolves when it is ready. */
export async function startService(
  env: Record<string, string>,
  file = program,
  runner = [process.execPath],
): Promise<Service> {
  const PORT = Number(env.PROCESSES ?? 1) > 1 ? `${await freePort()}` : '0';
  const [command, ...args] = [...runner, file, 'start'];
  const child = spawn(command!, args, {
    env: { ...processEnv, PORT, METRICS_PORT: '0', PROCESSES: '1', LOG_LEVEL: 'silent', ...env },
  });
  let output = '';
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      output += chunk;
      const address = /ready at (http:\S+)/.exec(output)?.[1];
      const metrics = /metrics +(http:\S+)/.exec(output)?.[1];
      if (!address || !metrics) return;
      const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
        child.kill(signal);
        return ended;
      };
      const readMetrics = async () => (await fetch(metrics)).text();
      resolve({ address, readMetrics, pid: child.pid!, output: () => output, stop });
    };
    child.stdout.on('data', onData);
    child.stderr.on('data', onData);
    void ended.then(code => reject(new Error(`the service ended with ${code}: ${output}`)));
  });
}

/**
 * The same in this process, on a database that is there: where a test needs no signal, and no process that is killed.
 * Several of them are as separate as nodes are.
 */
export async function startHere(
  env: Record<string, string>,
): Promise<Omit<Service, 'pid' | 'stop'> & { stop(): Promise<void> }> {
  const { runService } = await import('../../src/runtime/index.ts');
  const { promise: stopped, resolve: stop } = Promise.withResolvers<NodeJS.Signals>();
  const ready = Promise.withResolvers<void>();
  let output = '';
  const print = (line: string) => {
    output += `${line}\n`;
    if (line.startsWith('  processes')) ready.resolve();
  };
  const all = { PORT: '0', METRICS_PORT: '0', PROCESSES: '1', LOG_LEVEL: 'silent', ...env };
  const ended = runService(print, { isRestored: false }, { env: all, stopped, exit: () => {} });
  ended.then(() => ready.reject(new Error('the service ended')), ready.reject);
  await ready.promise;
  return {
    address: /ready at (http:\S+)/.exec(output)![1]!,
    readMetrics: async () => (await fetch(/metrics +(http:\S+)/.exec(output)![1]!)).text(),
    output: () => output,
    stop: () => {
      stop('SIGTERM');
      return ended;
    },
  };
}
