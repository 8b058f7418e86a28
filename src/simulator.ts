import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { OperatorError } from './base/operator-error.ts';

export interface BankSide {
  url: string;
  token: string | undefined;
  close(): Promise<void>;
}

const program = join(import.meta.dirname, '..', 'simulator', 'main.ts');

/**
 * Starts the bundled simulator of the bank side as a process of its own, which ends with this one. A folder has one
 * simulator: whoever comes second uses the one that runs.
 */
export async function startSimulator(dataDir: string): Promise<BankSide> {
  const dir = resolve(dataDir, 'simulator');
  const addressFile = join(dir, 'address.json');
  mkdirSync(dir, { recursive: true });
  const token = randomBytes(24).toString('hex');
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env.PATH, SIMULATOR_DIR: dir, SIMULATOR_FOLLOW_STDIN: '1', GATEWAY_TOKEN: token },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>(done => child.once('close', () => done()));
  let complaint = '';
  child.stderr.on('data', chunk => (complaint += chunk));
  const url = await new Promise<string | undefined>(found => {
    createInterface(child.stdout).on('line', line => found(/ready at (\S+)/.exec(line)?.[1]));
    void ended.then(() => found(undefined));
  });
  if (url) {
    writeFileSync(addressFile, JSON.stringify({ url, token }), { mode: 0o600 });
    const close = () => {
      child.kill();
      return ended;
    };
    return { url, token, close };
  }
  if (!existsSync(addressFile)) {
    throw new OperatorError(`The simulator of the bank side did not start: ${complaint.trim()}`);
  }
  return { ...JSON.parse(readFileSync(addressFile, 'utf8')), close: async () => {} };
}
