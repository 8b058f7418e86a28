import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startSimulator as startHere } from '../../simulator/start.ts';
import { afterFile } from './after-file.ts';
import { newFolder } from './folders.ts';
import { processEnv } from './process-env.ts';

const program = join(import.meta.dirname, '..', '..', 'simulator', 'main.ts');

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field, and fails if it is missing.
  body: any;
}

export interface Simulator {
  address: string;
  /** Resolves with any answer of the simulator, and rejects when there is no readable one. */
  call(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  closeStdin(): void;
  ended: Promise<number | null>;
  /** Sends the signal and resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** The simulated bank as its own process on a free port; resolves when it is ready. */
export function startSimulator(
  env: Record<string, string> = {},
  dir = join(newFolder(), 'simulator'),
): Promise<Simulator> {
  const child = spawn(process.execPath, [program], {
    env: { ...processEnv, SIMULATOR_DIR: dir, ...env },
  });
  let output = '';
  const ended = new Promise<number | null>(resolve => child.once('close', resolve));
  afterFile(() => {
    child.kill('SIGKILL');
    return ended;
  });
  return new Promise((resolve, reject) => {
    child.stderr.on('data', chunk => (output += chunk));
    child.stdout.on('data', chunk => {
      output += chunk;
      const address = /^simulator ready at (http:\S+)\n$/.exec(output)?.[1];
      if (!address) return;
      const simulator: Simulator = {
        address,
        call: (method, path, body, token) => callJson(`${address}${path}`, method, body, token),
        closeStdin: () => child.stdin.end(),
        ended,
        stop: (signal = 'SIGTERM') => {
          child.kill(signal);
          return ended;
        },
      };
      resolve(simulator);
    });
    void ended.then(code => reject(new Error(`the simulator ended with ${code}: ${output}`)));
  });
}

export type Bank = Pick<Simulator, 'address' | 'call'>;

/** The simulated bank in this process, which is quicker: for tests that do not kill it. It has the same settings. */
export async function openSimulator(
  env: { GATEWAY_TOKEN?: string; SIMULATOR_RATE?: string; SIMULATOR_HOST?: string } = {},
  dir = join(newFolder(), 'simulator'),
): Promise<Bank> {
  const { GATEWAY_TOKEN: token, SIMULATOR_RATE: rate = '92.50', SIMULATOR_HOST: host = '127.0.0.1' } = env;
  const { address, close } = await startHere({ port: 0, host, dir, token, rate }, why => {
    throw new Error(why);
  });
  afterFile(close);
  return {
    address,
    call: (method, path, body, bearer) => callJson(`${address}${path}`, method, body, bearer, 60_000),
  };
}

async function callJson(
  url: string,
  method: string,
  body?: unknown,
  token?: string,
  timeoutMs = 5_000,
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(timeoutMs),
  });
  return { status: response.status, body: await response.json() };
}

let paymentCount = 0;
export const nextPaymentId = () => `pay_${String(++paymentCount).padStart(26, '0')}`;

/** A QR code made for this test: its data, and the calls that the service makes for it. */
export async function makeQr(simulator: Bank, fields: object = {}) {
  const { body: qr } = await simulator.call('POST', '/sim/qrs', {
    scenario: 'C2B',
    amount_kopecks: 15_000,
    ...fields,
  });
  const { link: qr_url, qrc_id, amount_kopecks, fingerprint } = qr;
  const request = { qr_url, qrc_id, amount_kopecks, fingerprint };
  return {
    ...qr,
    request,
    resolve: () => simulator.call('POST', '/qr/resolve', { qr_url }),
    pay: (paymentId: string, changes: object = {}) =>
      simulator.call('PUT', `/orders/${paymentId}`, { ...request, ...changes }),
    fault: (fields: object) => simulator.call('PUT', '/sim/faults', { qrc_id, ...fields }),
  };
}
