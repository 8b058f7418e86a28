import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface Running {
  address: string;
  output: string[];
  stop(): Promise<void>;
}

/** Starts a program and waits for the line in which it says where it is ready. */
export function start(program: string, args: string[], env: Record<string, string>): Promise<Running> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH!, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output: string[] = [];
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()));
  return new Promise((resolve, reject) => {
    createInterface(child.stdout).on('line', line => {
      output.push(line);
      const address = /ready at (http:\S+)/.exec(line)?.[1];
      const stop = () => {
        child.kill();
        return ended;
      };
      if (address) resolve({ address, output, stop });
    });
    void ended.then(() => reject(new Error(`${program} ended: ${output.join('\n')}`)));
  });
}
