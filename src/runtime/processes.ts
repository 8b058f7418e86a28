import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import { AggregatorRegistry } from 'prom-client';
import { OperatorError } from '../base/operator-error.ts';
import { isMessage, type Message, type Metrics } from './cluster-channel.ts';

/** Long enough that one which cannot start does not keep the machine busy with trying. */
const pauseMs = 1_000;
/** Whoever has not told its metrics by then is left out. */
const metricsWithinMs = 1_000;

export interface Processes {
  /** Where they listen, if they serve partners or operators. */
  address: string | undefined;
  stop(): Promise<void>;
}

/**
 * Runs the service in so many processes behind one port. All must come up, or nothing does; after that, one that ends
 * is replaced. If this process dies, the others end at once, as if they had been killed with it.
 */
export async function startProcesses(
  count: number,
  env: Record<string, string>,
  say: (line: string) => void,
): Promise<Processes> {
  const ready = new Set<Worker>();
  const stopping = new AbortController();
  let allCameUp = false;

  function fork(): Worker {
    const worker = cluster.fork(env);
    worker.on('message', message => {
      if (isMessage(message)) relay(worker, message);
    });
    worker.once('exit', () => ready.delete(worker));
    return worker;
  }

  function relay(from: Worker, message: Message): void {
    if (message.kopeck === 'ready') ready.add(from);
    // At the start it is the reason why nothing starts; later nobody else would hear of it.
    if (message.kopeck === 'failed' && allCameUp) say(message.line);
    if (message.kopeck === 'nudge') for (const worker of ready) if (worker !== from) tell(worker, message);
    if (message.kopeck === 'metrics_of_all')
      void metricsOf([...ready]).then(
        text => tell(from, { ...message, text }),
        () => tell(from, { ...message, text: '' }),
      );
  }

  async function keepRunning(worker: Worker): Promise<void> {
    for (let current = worker; ; current = fork()) {
      const reason = await endOf(current);
      if (stopping.signal.aborted || !allCameUp) return;
      say(`A process of the service ended (${reason}); another takes its place.`);
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
    }
  }

  function stop(): void {
    stopping.abort();
    for (const worker of Object.values(cluster.workers!)) worker!.process.kill('SIGTERM');
  }

  const all = Array.from({ length: count }, fork);
  const running = Promise.all(all.map(keepRunning));
  // Not before all of them serve: callers who keep their connection stay with whoever took it.
  const addresses = await Promise.all(all.map(untilReady)).catch(async error => {
    stop();
    await running;
    throw error;
  });
  if (all.some(worker => worker.isDead())) throw new Error('a process ended while the others started');
  allCameUp = true;
  return {
    address: addresses[0],
    stop: async () => {
      stop();
      await running;
    },
  };
}

/** Of its life, or of the attempt to give it one: the system may have no room for another process just now. */
const endOf = (worker: Worker) =>
  new Promise<string>(resolve => {
    worker.once('exit', (code, signal) => resolve(`${signal ?? code}`));
    worker.on('error', error => {
      if (worker.process.pid === undefined) resolve(error.message);
    });
  });

/** Whom nobody hears any more has ended, and is replaced. */
const tell = (worker: Worker, message: Message) => worker.send(message, () => {});

let questions = 0;

async function metricsOf(workers: Worker[]): Promise<string> {
  const told = await Promise.all(workers.map(metricsOfOne));
  return AggregatorRegistry.aggregate(told).metrics();
}

function metricsOfOne(worker: Worker): Promise<Metrics> {
  const question = questions++;
  return new Promise(resolve => {
    const end = (metrics: Metrics) => {
      clearTimeout(timer);
      worker.off('message', onMessage);
      resolve(metrics);
    };
    const onMessage = (message: unknown) => {
      if (!isMessage(message) || message.kopeck !== 'metrics_of_one') return;
      if (message.question === question) end(message.metrics!);
    };
    const timer = setTimeout(end, metricsWithinMs, []);
    worker.on('message', onMessage);
    tell(worker, { kopeck: 'metrics_of_one', question });
  });
}

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
