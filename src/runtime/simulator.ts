import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { join, resolve } from 'node:path';
import { startBackgroundLoop } from '../base/background-loop.ts';
import { systemClock as clock } from '../base/clock.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';
import { writeNew } from '../db/backup-store/index.ts';
import { callHttp } from '../http-client/index.ts';
import { findPort } from './port.ts';

export interface BankSide {
  url: string;
  token: string;
  close(): Promise<void>;
}

const program = join(import.meta.dirname, '..', '..', 'simulator', 'main.ts');
const startTimeoutMs = 60_000;
const retryPauseMs = 1_000;
const probeTimeoutMs = 1_000;
const maxProbeBytes = 1024 * 1024;

/**
 * Runs the bundled gateway simulator in a child process, which ends with this one. A data folder has one
 * simulator, always at the same port. Every service on the folder keeps trying to start it: one succeeds, and the others
 * use that simulator and take over when it ends.
 */
export async function startSimulator(dataDir: string, print: (line: string) => void): Promise<BankSide> {
  const dir = resolve(dataDir, 'simulator');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const { port, token } = await readPlace(join(dir, 'place.json'));
  const url = `http://127.0.0.1:${port}`;
  let failure = '';
  let child: ChildProcess | undefined;

  async function runOnce(signal: AbortSignal): Promise<void> {
    child = spawnSimulator(dir, port, token);
    let errors = '';
    child.stderr!.on('data', chunk => (errors += chunk));
    await once(child, 'close');
    if (signal.aborted || errors.includes('in use by another simulator')) return;
    failure = errors.trim() || 'it gave no reason';
    print(`The gateway simulator stopped: ${failure}`);
  }

  const running = startBackgroundLoop({
    clock,
    everyMs: retryPauseMs,
    work: runOnce,
    onError: error => {
      failure = String(error);
    },
  });
  const close = () => {
    const stopped = running.stop();
    child?.kill();
    return stopped;
  };
  for (
    const untilMs = clock.monotonicMs() + startTimeoutMs;
    !(await isAnswering(url));
    await clock.sleep(20)
  ) {
    if (!failure && clock.monotonicMs() < untilMs) continue;
    void close();
    throw new OperatorError(
      `The gateway simulator did not start in ${dir}: ${failure || 'it does not respond'}`,
    );
  }
  return { url, token, close };
}

const spawnSimulator = (dir: string, port: number, token: string) =>
  spawn(process.execPath, [program], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: getCompileCacheDir(),
      SIMULATOR_DIR: dir,
      SIMULATOR_PORT: `${port}`,
      SIMULATOR_FOLLOW_STDIN: '1',
      GATEWAY_TOKEN: token,
    },
    stdio: ['pipe', 'ignore', 'pipe'],
    // Ctrl-C must reach only the service, which still needs the gateway to drain.
    detached: true,
  });

/** The settings with this simulator as gateway and, by default, as rate source; unchanged without one. */
export function withBank(settings: Settings, bank: Pick<BankSide, 'url' | 'token'> | undefined): Settings {
  if (!bank) return settings;
  return {
    ...settings,
    gatewayUrl: bank.url,
    gatewayToken: bank.token,
    rateSources: settings.rateSources ?? [{ kind: 'feed', name: 'simulator', url: `${bank.url}/rate` }],
  };
}

/** The port and the token of a folder's simulator, chosen once and stored. */
async function readPlace(file: string): Promise<{ port: number; token: string }> {
  if (!existsSync(file)) {
    const place = {
      port: await findPort({ host: '127.0.0.1', port: 0 }),
      token: randomBytes(24).toString('hex'),
    };
    await writeNew(file, JSON.stringify(place));
  }
  return JSON.parse(readFileSync(file, 'utf8'));
}

const isAnswering = (url: string) =>
  callHttp({ url: `${url}/sim/faults`, clock, timeoutMs: probeTimeoutMs, maxBytes: maxProbeBytes }).then(
    ({ status }) => status === 200,
    () => false,
  );

/** No bank is behind the simulator: in production its success would be a loss, and its rate is made up. */
export function refuseSimulatorInProduction({ production, gatewayUrl, rateSources }: Settings): void {
  if (!production || (gatewayUrl && rateSources)) return;
  const missing = [...(gatewayUrl ? [] : ['GATEWAY_URL']), ...(rateSources ? [] : ['RATE_SOURCES'])];
  throw new OperatorError(
    `${missing.join(' and ')} must be set in production: the gateway simulator is for development only.`,
  );
}
