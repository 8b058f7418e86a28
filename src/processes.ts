import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { AggregatorRegistry } from 'prom-client';
import { OperatorError } from './base/operator-error.ts';
import { isMessage, type Message } from './neighbours.ts';

/** Long enough that one which cannot start does not keep the machine busy with trying. */
const pauseMs = 1_000;

export interface Processes {
  /** Where they listen, if they serve the API. */
  address: string | undefined;
  stop(): Promise<void>;
}

/**
 * Runs the service in so many processes behind one port. The first must come up, or nothing does; after that, one
 * that ends is replaced. If this process dies, the others end at once, as if they had been killed with it.
 */
export async function startProcesses(
  count: number,
  env: Record<string, string>,
  say: (line: string) => void,
): Promise<Processes> {
  const metrics = new AggregatorRegistry();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  function fork(): Worker {
    const worker = cluster.fork(env);
    worker.on('message', message => {
      if (isMessage(message)) relay(worker, message);
    });
    return worker;
  }

  function relay(from: Worker, message: Message): void {
    if (message.kopeck === 'nudge') {
      for (const worker of Object.values(cluster.workers!)) if (worker !== from) tell(worker!, message);
    } else if (message.kopeck === 'metrics') {
      metrics.clusterMetrics().then(
        text => tell(from, { ...message, text }),
        () => tell(from, message),
      );
    }
  }

  async function keepRunning(worker: Worker): Promise<void> {
    for (let current = worker; ; current = fork()) {
      const [code, signal] = await once(current, 'exit');
      if (stopping.signal.aborted) return;
      say(`A process of the service ended (${signal ?? code}); another takes its place.`);
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return;
    }
  }

  const first = fork();
  const address = await untilReady(first);
  const others = Array.from({ length: count - 1 }, fork);
  for (const worker of [first, ...others]) running.add(keepRunning(worker));
  return {
    address,
    stop: async () => {
      stopping.abort();
      for (const worker of Object.values(cluster.workers!)) worker!.process.kill('SIGTERM');
      await Promise.all(running);
    },
  };
}

/** Whom nobody hears any more has ended, and is replaced. */
const tell = (worker: Worker, message: Message) => worker.send(message, () => {});

function untilReady(worker: Worker): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    worker.on('message', message => {
      if (!isMessage(message)) return;
      if (message.kopeck === 'ready') resolve(message.address);
      if (message.kopeck === 'failed') reject(new OperatorError(message.line));
    });
    worker.once('exit', (code, signal) =>
      reject(new Error(`the first process of the service ended (${signal ?? code})`)),
    );
  });
}
