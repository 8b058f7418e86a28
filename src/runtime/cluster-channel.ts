import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';

/** The processes of one `kopeck start` that share a port, as one of them sees the others. */
export interface ClusterChannel {
  /** There may be an event to send, for whichever process sends to its partner. */
  nudge(): void;
  onNudge(listen: () => void): void;
  /** Adds a process's own metrics to those of all; returns how to read them. */
  shareMetrics(own: Registry): () => Promise<string>;
}

export type Metrics = MetricObjectWithValues<MetricValue<string>>[];

/** What the processes say to each other, by way of the first one, which has started the others. */
export type Message =
  | { kopeck: 'ready'; address: string | undefined }
  | { kopeck: 'failed'; line: string }
  | { kopeck: 'nudge' }
  /** To the first process: what are the metrics of all? And its answer. */
  | { kopeck: 'metrics_of_all'; question: number; text?: string }
  /** From the first process: what are your metrics? And the answer. */
  | { kopeck: 'metrics_of_one'; question: number; metrics?: Metrics };

export const isMessage = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && 'kopeck' in value;

export const singleProcess: ClusterChannel = {
  nudge: () => {},
  onNudge: () => {},
  shareMetrics: own => () => own.metrics(),
};

/** However many payments end at once, the others need not be told more often. */
const nudgeEveryMs = 20;

/** For a process that another has started. */
export function joinCluster(tell: (message: Message) => void): ClusterChannel {
  let nudgeIsDue = false;
  let asked = 0;
  let registry: Registry | undefined;
  const questions = new Map<number, (text: string) => void>();
  const listeners: (() => void)[] = [];

  process.on('message', async message => {
    if (!isMessage(message)) return;
    if (message.kopeck === 'nudge') for (const listen of listeners) listen();
    if (message.kopeck === 'metrics_of_one') {
      tell({ ...message, metrics: ((await registry?.getMetricsAsJSON()) ?? []) as Metrics });
    }
    if (message.kopeck === 'metrics_of_all') {
      questions.get(message.question)?.(message.text!);
      questions.delete(message.question);
    }
  });

  return {
    nudge: () => {
      if (nudgeIsDue) return;
      nudgeIsDue = true;
      setTimeout(() => {
        nudgeIsDue = false;
        tell({ kopeck: 'nudge' });
      }, nudgeEveryMs).unref();
    },
    onNudge: listen => void listeners.push(listen),
    shareMetrics: own => {
      registry = own;
      return () =>
        new Promise(resolve => {
          questions.set(asked, resolve);
          tell({ kopeck: 'metrics_of_all', question: asked++ });
        });
    },
  };
}
