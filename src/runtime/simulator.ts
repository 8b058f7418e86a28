import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../base/operator-error.ts';
import type { Settings } from '../base/settings.ts';

export interface BankSide {
  url: string;
  token: string;
  close(): Promise<void>;
}

const program = join(import.meta.dirname, '..', '..', 'simulator', 'main.ts');
const startTimeoutMs = 15_000;
const pauseMs = 1_000;

/**
 * Runs the bundled simulator of the bank side as a process of its own, which ends with this one. A folder has one
 * simulator, always at the same port. Every service on the folder keeps trying to be the one that runs it: whoever
 * does not get it uses the one that is there, and takes over when it is gone.
 */
export async function startSimulator(dataDir: string, say: (line: string) => void): Promise<BankSide> {
  const dir = resolve(dataDir, 'simulator');
  mkdirSync(dir, { recursive: true });
  const { port, token } = await placeOf(join(dir, 'place.json'));
  const url = `http://127.0.0.1:${port}`;
  let closed = false;
  let complaint = '';
  let child: ChildProcess | undefined;

  const kept = (async () => {
    while (!closed) {
      child = spawn(process.execPath, [program], {
        env: {
          PATH: process.env.PATH,
          NODE_COMPILE_CACHE: getCompileCacheDir(),
          SIMULATOR_DIR: dir,
          SIMULATOR_PORT: `${port}`,
          SIMULATOR_FOLLOW_STDIN: '1',
          GATEWAY_TOKEN: token,
        },
        stdio: ['pipe', 'ignore', 'pipe'],
        // Ctrl-C is for us alone: we still need the bank to finish what is under way.
        detached: true,
      });
      let said = '';
      child.stderr!.on('data', chunk => (said += chunk));
      await once(child, 'close');
      const inUse = said.includes('in use by another simulator');
      if (!inUse && !closed) {
        complaint = said.trim() || 'it gave no reason';
        say(`The simulator of the bank side ended: ${complaint}`);
      }
      if (!closed) await sleep(pauseMs);
    }
  })();

  const close = () => {
    closed = true;
    child?.kill();
    return kept;
  };
  for (const untilMs = Date.now() + startTimeoutMs; !(await answers(url)); await sleep(20)) {
    if (!complaint && Date.now() < untilMs) continue;
    void close();
    throw new OperatorError(
      `The simulator of the bank side did not start in ${dir}: ${complaint || 'it does not answer'}`,
    );
  }
  return { url, token, close };
}

/** The settings of a service whose bank side and rate feed this is; as they are, if there is none. */
export function withBank(settings: Settings, bank: Pick<BankSide, 'url' | 'token'> | undefined): Settings {
  if (!bank) return settings;
  return {
    ...settings,
    gatewayUrl: bank.url,
    gatewayToken: bank.token,
    rateSources: settings.rateSources ?? [{ kind: 'feed', name: 'simulator', url: `${bank.url}/rate` }],
  };
}

/** The port and the token of a folder's simulator, chosen once and kept. */
async function placeOf(file: string): Promise<{ port: number; token: string }> {
  if (!existsSync(file)) {
    const place = { port: await freePort(), token: randomBytes(24).toString('hex') };
    try {
      writeFileSync(file, JSON.stringify(place), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  return JSON.parse(readFileSync(file, 'utf8'));
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

const answers = (url: string) =>
  fetch(`${url}/sim/faults`, { signal: AbortSignal.timeout(pauseMs) }).then(
    response => response.ok,
    () => false,
  );
