import { AggregatorRegistry, type Registry } from 'prom-client';

/** The processes of one `kopeck start` that share a port, as one of them sees the others. */
export interface Neighbours {
  /** There may be an event to send, for whichever process sends to its partner. */
  nudge(): void;
  onNudge(listen: () => void): void;
  /** Adds a process's own metrics to those of all; returns how to read them. */
  shareMetrics(own: Registry): () => Promise<string>;
}

/** What the processes say to each other, by way of the first one, which has started the others. */
export type Message =
  | { kopeck: 'ready'; address: string | undefined }
  | { kopeck: 'failed'; line: string }
  | { kopeck: 'nudge' }
  | { kopeck: 'metrics'; question: number; text?: string };

export const isMessage = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && 'kopeck' in value;

export const alone: Neighbours = {
  nudge: () => {},
  onNudge: () => {},
  shareMetrics: own => () => own.metrics(),
};

/** However many payments end at once, the others need not be told more often. */
const nudgeEveryMs = 20;

/** For a process that another has started. */
export function joinNeighbours(tell: (message: Message) => void): Neighbours {
  let nudgeIsDue = false;
  let asked = 0;
  const questions = new Map<number, PromiseWithResolvers<string>>();
  const listeners: (() => void)[] = [];

  process.on('message', message => {
    if (!isMessage(message)) return;
    if (message.kopeck === 'nudge') for (const listen of listeners) listen();
    if (message.kopeck !== 'metrics') return;
    const question = questions.get(message.question);
    questions.delete(message.question);
    if (message.text === undefined) question?.reject(new Error('not all processes told their metrics'));
    else question?.resolve(message.text);
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
      AggregatorRegistry.setRegistries([own]);
      // Made for its listener: it answers when the first process asks for the metrics of this one.
      new AggregatorRegistry();
      return () => {
        const answer = Promise.withResolvers<string>();
        questions.set(asked, answer);
        tell({ kopeck: 'metrics', question: asked++ });
        return answer.promise;
      };
    },
  };
}
