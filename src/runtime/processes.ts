import cluster, { type Worker } from 'node:cluster';
import { systemClock } from '../base/clock.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { NewestHistory, SeenHistories } from '../db/history/index.ts';
import { isMessage, type Message } from './cluster-channel.ts';
import { readClusterMetrics } from './cluster-metrics.ts';
import { createClusterMutex } from './cluster-mutex.ts';

/** Long enough that a process which cannot start does not keep the machine busy with restarts. */
const restartPauseMs = 1_000;

/** What a process is started with. */
export interface WorkerContext {
  env: Record<string, string>;
  history: NewestHistory;
  print: (line: string) => void;
}

const historyVariable = 'KOPECK_HISTORY';

/** In a worker: the histories that its node had seen when it was started. */
export const inheritedHistory = (): SeenHistories => JSON.parse(process.env[historyVariable]!);

/**
 * Runs the service in several processes behind one port. All must start, or none runs; after that, a process that ends is
 * replaced. If this process, the primary, dies, its workers end at once, as if they had been killed with it.
 */
export async function startProcesses(count: number, { env, history, print }: WorkerContext) {
  const ready = new Set<Worker>();
  const stopping = new AbortController();
  let haveAllStarted = false;
  const printed = new Set<string>();
  const handleLock = createClusterMutex();

  /** During an outage the replacements end too, one after the other, and for the same reason. */
  function printOnce(line: string): void {
    if (!printed.has(line)) print(line);
    printed.add(line);
  }

  function fork(): Worker {
    const worker = cluster.fork({ ...env, [historyVariable]: JSON.stringify(history.get()) });
    worker.on('message', message => {
      if (isMessage(message)) handle(worker, message);
    });
    worker.once('exit', () => ready.delete(worker));
    return worker;
  }

  function handle(from: Worker, message: Message): void {
    if (message.kopeck === 'ready') {
      ready.add(from);
      printed.clear();
    }
    if (message.kopeck === 'image_lock') void handleLock(from, message);
    if (message.kopeck === 'history') history.see(message.newest);
    // During the start it is the error of the start, and printed there.
    if (message.kopeck === 'failed' && haveAllStarted) printOnce(message.line);
    if (message.kopeck === 'events_ready')
      for (const worker of ready) if (worker !== from) send(worker, message);
  }

  async function keepRunning(worker: Worker): Promise<void> {
    for (let current = worker; ; current = fork()) {
      const reason = await untilEnded(current);
      if (stopping.signal.aborted || !haveAllStarted) return;
      printOnce(`A process of the service ended (${reason}); another takes its place.`);
      await systemClock.sleep(restartPauseMs, stopping.signal);
      if (stopping.signal.aborted) return;
    }
  }

  const workers = Array.from({ length: count }, fork);
  const running = Promise.all(workers.map(keepRunning));
  const stop = async () => {
    stopping.abort();
    for (const worker of Object.values(cluster.workers!)) worker!.process.kill('SIGTERM');
    await running;
  };
  // Only when all of them serve: a client that keeps its connection stays with the process that accepted it.
  const addresses = await Promise.all(workers.map(untilReady)).catch(async error => {
    await stop();
    throw error;
  });
  if (workers.some(worker => worker.isDead())) throw new Error('a process ended while the others started');
  haveAllStarted = true;
  // Where they listen, if they serve partners or operators.
  return { address: addresses[0], readMetrics: () => readClusterMetrics([...ready]), stop };
}

/** Resolves with the reason; also for a process that the system could not create. */
const untilEnded = (worker: Worker) =>
  new Promise<string>(resolve => {
    worker.once('exit', (code, signal) => resolve(`${signal ?? code}`));
    worker.on('error', error => {
      if (worker.process.pid === undefined) resolve(error.message);
    });
  });

/** Errors are ignored: a worker that cannot be reached has ended, and is replaced. */
const send = (worker: Worker, message: Message) => worker.send(message, () => {});

function untilReady(worker: Worker): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    worker.on('message', message => {
      if (!isMessage(message)) return;
      if (message.kopeck === 'ready') resolve(message.address);
      if (message.kopeck === 'failed') reject(new OperatorError(message.line));
    });
    worker.on('error', reject);
    worker.once('exit', (code, signal) =>
      reject(new Error(`a process of the service ended before it was ready (${signal ?? code})`)),
    );
  });
}
