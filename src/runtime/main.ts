import cluster from 'node:cluster';
import { availableParallelism } from 'node:os';
import { systemClock } from '../base/clock.ts';
import { OperatorError } from '../base/operator-error.ts';
import { describeProxyProblem } from '../base/proxy-trust.ts';
import type { Settings } from '../base/settings.ts';
import { createNewestHistory, type NewestHistory } from '../db/history/index.ts';
import { openDatabase } from '../db/index.ts';
import { isDatabaseUnavailable } from '../db/postgres/index.ts';
import { loadSettings, openKeyring } from '../db/secrets/index.ts';
import { refuseOtherKeys, startNodeCheck } from '../deposits/index.ts';
import { printAdvice, type Started } from './advice.ts';
import { createSingleProcess, joinCluster, leaveCluster, type Message } from './cluster-channel.ts';
import { checkConnections } from './connection-budget.ts';
import { refuseForeignOrders } from './gateway-mismatch.ts';
import { type Cleanup, shutDown } from './graceful-shutdown.ts';
import { buildPages, servesPages, servesPortal, servesRequests } from './pages.ts';
import { findPort, sharesPort } from './port.ts';
import { inheritedHistory, startProcesses } from './processes.ts';
import { serveMetrics } from './serve-metrics.ts';
import { refuseSimulatorInProduction, startSimulator, withBank } from './simulator.ts';
import { startService } from './start-service.ts';

type Print = (line: string) => void;

/**
 * Half of the cores: a database beside the service takes the others. More processes have smaller batches: with two on two cores a live
 * payment took 1.6 times the CPU. At most four, since PostgreSQL allows 100 connections by default.
 */
const defaultProcesses = () =>
  sharesPort ? Math.min(Math.max(1, Math.floor(availableParallelism() / 2)), 4) : 1;

export interface StartOptions {
  /** The operator says that the database was restored from a backup or is a copy. */
  isRestored: boolean;
}

/** What the service has of the process that it runs in. A test runs it beside others in a process of its own. */
interface Host {
  env: NodeJS.ProcessEnv;
  stopped: Promise<NodeJS.Signals>;
  exit(code: number): void;
}

const thisProcess = (): Host => ({
  env: process.env,
  stopped: firstSignal(),
  exit: code => process.exit(code),
});

/** Runs the service until a signal asks for its graceful shutdown. */
export async function runService(
  print: Print,
  options: StartOptions,
  { env, stopped, exit }: Host = thisProcess(),
): Promise<void> {
  const settings = loadSettings(env);
  let isShuttingDown = false;
  // Also during the start, which takes minutes while another process migrates the database.
  void stopped.then(() => {
    isShuttingDown = true;
    exitAfterShutdownTimeout(settings, print, exit);
  });
  const cleanups: Cleanup[] = [];
  try {
    if (cluster.isWorker) await runClusterWorker(settings, cleanups, { stopped, print });
    else await runUntilStopped(settings, cleanups, { stopped, print, ...options });
  } catch (error) {
    // A start that the shutdown interrupts may fail in any way.
    if (!isShuttingDown) throw error;
  } finally {
    await shutDown(cleanups);
    if (cluster.isWorker) await leaveCluster();
  }
}

interface Run {
  stopped: Promise<NodeJS.Signals>;
  print: Print;
}

/** After this long, what still waits for the gateway is abandoned: its sessions of the database are of no use any more. */
const leaveTimeoutMs = 2_000;

/** When the database turns out to be another one, everything closes and starts again as a newcomer to it. */
async function runUntilStopped(
  settings: Settings,
  cleanups: Cleanup[],
  { stopped, print, isRestored }: Run & StartOptions,
): Promise<void> {
  const signalled = stopped.then(signal => ({ signal }));
  const history = createNewestHistory();
  for (let running = runPrimary(settings, cleanups, { print, history, isRestored }); ; ) {
    const { changed } = await running;
    const end = await Promise.race([signalled, changed.then(line => ({ line, signal: undefined }))]);
    if (end.signal) return print(`Stopping on ${end.signal} …`);
    print(`${end.line} Reconnecting …`);
    await leave(cleanups);
    running = joinAgain(settings, cleanups, { stopped, print, history });
  }
}

const leave = (cleanups: Cleanup[]) =>
  Promise.race([shutDown(cleanups.splice(0), 'leave'), systemClock.sleep(leaveTimeoutMs)]);

const joinPauseMs = 1_000;

/** Whatever goes wrong: it has run before, and while a fail-over is under way the database may be gone again. */
async function joinAgain(
  settings: Settings,
  cleanups: Cleanup[],
  { stopped, print, history }: Run & { history: NewestHistory },
): Promise<{ changed: Promise<string> }> {
  let lastLine = '';
  let isStopping = false;
  void stopped.then(() => {
    isStopping = true;
  });
  for (;;) {
    try {
      return await runPrimary(settings, cleanups, { print, history, isRestored: false });
    } catch (error) {
      if (isStopping) throw error;
      const line = `${(error as Error).message} Trying again …`;
      if (line !== lastLine) print(line);
      lastLine = line;
    }
    await leave(cleanups);
    await Promise.race([stopped, systemClock.sleep(joinPauseMs)]);
  }
}

/**
 * The database and, without a gateway, the simulator; then the service, in this process or in workers. The result resolves
 * when the database of this process has changed; workers join another one by themselves.
 */
async function runPrimary(
  settings: Settings,
  cleanups: Cleanup[],
  { print, history, isRestored }: { print: Print; history: NewestHistory; isRestored: boolean },
): Promise<{ changed: Promise<string> }> {
  refuseSimulatorInProduction(settings);
  const nodes = startNodeCheck(settings.depositChains);
  const pagesBuilt = servesPages(settings) && buildPages(print);
  const database = await openDatabase(settings, print, 'create', { isRestored, history });
  cleanups.push(database.close);
  await refuseOtherKeys(database.pool, settings.depositChains);
  const keyring = await openKeyring(settings, database.pool, 'create');
  const bank = settings.gatewayUrl ? undefined : await startSimulator(settings.dataDir, print);
  if (bank) {
    cleanups.push(bank.close);
    await refuseForeignOrders(bank, database);
  }
  await pagesBuilt;
  nodes.refuseIfKnownWrong();
  const processes = settings.processes ?? defaultProcesses();
  if (processes > 1 && !sharesPort)
    throw new OperatorError('Several processes can share a port only on Linux: set PROCESSES to 1.');
  const warning = await checkConnections(database.pool, processes);
  if (warning) print(warning);
  const proxyProblem = describeProxyProblem(settings);
  if (proxyProblem) print(`Warning: ${proxyProblem}.`);
  // 0: the system chooses one for a socket, but several processes must know it before.
  const isChosenLater = settings.port === 0 && processes === 1;
  const port = servesRequests(settings) && !isChosenLater ? await findPort(settings) : settings.port;
  let address: string | undefined;
  let readMetrics: () => Promise<string>;
  if (processes === 1) {
    const channel = createSingleProcess();
    address = await startService(withBank({ ...settings, port }, bank), database, channel, cleanups);
    readMetrics = channel.readMetrics;
  } else {
    const env = { PORT: `${port}`, ...(bank ? { [simulatorVariable]: JSON.stringify(bank) } : {}) };
    const workers = await startProcesses(processes, { env, history, print });
    cleanups.push(workers.stop);
    ({ address, readMetrics } = workers);
  }
  const metrics =
    settings.metricsPort === undefined ? undefined : await serveMetrics(settings, readMetrics, cleanups);
  const started = { settings, database, bank, address };
  printStarted(started, { processes, metrics }, print);
  void nodes.verdict.then(wrong => wrong && print(`Warning: ${wrong.message}`));
  await printAdvice({ ...started, keyring }, print).catch(error => {
    // The service runs by now, and waits for a database that is gone.
    if (!isDatabaseUnavailable(error)) throw error;
  });
  return { changed: processes === 1 ? database.changed : new Promise(() => {}) };
}

/** For the workers: the address of the simulator that the primary runs. */
const simulatorVariable = 'KOPECK_SIMULATOR';

const sendToPrimary = (message: Message) => void process.send!(message, undefined, undefined, () => {});

/** If it cannot start, or must leave its database, it ends and the primary prints why; another takes its place. */
async function runClusterWorker(
  settings: Settings,
  cleanups: Cleanup[],
  { stopped, print }: Run,
): Promise<void> {
  const channel = joinCluster(sendToPrimary);
  const simulator = process.env[simulatorVariable];
  try {
    const history = createNewestHistory(inheritedHistory(), newest =>
      sendToPrimary({ kopeck: 'history', newest }),
    );
    const database = await openDatabase(settings, print, 'refuse', { history });
    cleanups.push(database.close);
    const bank = simulator && !settings.gatewayUrl ? JSON.parse(simulator) : undefined;
    const address = await startService(withBank(settings, bank), database, channel, cleanups);
    sendToPrimary({ kopeck: 'ready', address });
    const changed = await Promise.race([stopped.then(() => undefined), database.changed]);
    if (changed !== undefined) {
      systemClock.timer(leaveTimeoutMs, () => process.exit(1));
      throw new OperatorError(changed);
    }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    sendToPrimary({ kopeck: 'failed', line: error.message });
    process.exitCode = 1;
  }
}

function printStarted(
  { settings, database, bank, address }: Started,
  { processes, metrics }: { processes: number; metrics: string | undefined },
  print: Print,
): void {
  const { roles, telegramToken } = settings;
  if (!address) {
    print(processes === 1 ? 'Kopeck is running.' : `Kopeck is running (${processes} processes).`);
    if (metrics) print(`  metrics    ${metrics}`);
    return;
  }
  print(`Kopeck is ready at ${address}`);
  if (roles.includes('api')) print(`  docs       ${address}/docs`);
  if (roles.includes('console')) print(`  console    ${address}/console/`);
  if (servesPortal(settings)) print(`  portal     ${address}/portal/`);
  if (bank) print(`  gateway    ${bank.url} (simulator: create QR codes, set failure scenarios)`);
  print(`  database   ${database.description}`);
  if (metrics) print(`  metrics    ${metrics}`);
  if (roles.includes('bot'))
    print(`  chat bot   ${telegramToken ? 'on' : 'off: set TELEGRAM_BOT_TOKEN to enable it'}`);
  print(`  processes  ${processes}\n`);
}

/** After the drain. What hangs for longer is abandoned: its state is in the database, and another process recovers it. */
const shutdownTimeoutMs = 85_000;

function exitAfterShutdownTimeout({ drainSec }: Settings, print: Print, exit: Host['exit']): void {
  const abandon = () => {
    print('The shutdown took too long: the remaining work was abandoned.');
    exit(1);
  };
  systemClock.timer(drainSec * 1_000 + shutdownTimeoutMs, abandon);
}

function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise(resolve => {
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, resolve);
  });
}
