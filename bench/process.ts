import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

export interface Running {
  pid: number;
  address: string;
  output: string[];
  stop(): Promise<void>;
}

/** Running child processes, with a promise that resolves when they end. */
const children = new Map<ChildProcess, Promise<void>>();
let isStopped = false;

function launch(command: string, args: string[], env: Record<string, string>, stdin: 'ignore' | 'pipe') {
  if (isStopped) throw new Error('the bench is stopping');
  const stdio: StdioOptions = [stdin, 'pipe', 'inherit'];
  const child = spawn(command, args, { env: { PATH: process.env.PATH!, ...env }, stdio });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  }).finally(() => children.delete(child));
  children.set(child, ended);
  return { child, ended };
}

/** Starts a program of Node and waits for its line `ready at <address>`. */
export const start = (program: string, args: string[], env: Record<string, string>) =>
  startCommand(process.execPath, [program, ...args], env);

/** Starts a command and waits for the same line. */
export function startCommand(command: string, args: string[], env: Record<string, string>): Promise<Running> {
  const { child, ended } = launch(command, args, env, 'ignore');
  const output: string[] = [];
  return new Promise((resolve, reject) => {
    createInterface(child.stdout!).on('line', line => {
      output.push(line);
      const address = /ready at (http:\S+)/.exec(line)?.[1];
      const stop = () => {
        child.kill();
        return ended;
      };
      if (address) resolve({ pid: child.pid!, address, output, stop });
    });
    void ended.then(() => reject(new Error(`${command} ended: ${output.join('\n')}`)), reject);
  });
}

/** Runs a program to its end and returns its output. */
export async function run(
  command: string,
  args: string[],
  { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {},
): Promise<string> {
  const { child, ended } = launch(command, args, env, 'pipe');
  child.stdin!.on('error', () => {});
  child.stdin!.end(input);
  const [output] = await Promise.all([text(child.stdout!), ended]);
  if (child.exitCode !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${child.exitCode}`);
  return output;
}

/** Stops all running child processes; from then on none can be started. */
export async function stopAll(): Promise<void> {
  isStopped = true;
  const ends = Array.from(children, ([child, ended]) => {
    child.kill();
    return ended;
  });
  await Promise.allSettled(ends);
}
