/**
 * Collects calls that arrive while the previous batch is under way, so that one round trip and one commit serve many
 * callers. A lone call is sent at once: batching adds no waiting time, it uses the time that callers wait anyway.
 */
export interface BatcherOptions<Item, Answer> {
  /** Carries out many items in one call and answers each, in the same order. Must be safe to repeat. */
  run: (items: Item[]) => Promise<Answer[]>;
  /** Whether a single item can have caused the error, so that the others may succeed without it. */
  isItemError: (error: unknown) => boolean;
  /** Items of one lane never run at the same time; items of two lanes may. */
  laneOf: (item: Item) => number;
  maxBatch: number;
  /** Backpressure: when this many callers of one lane are waiting, the next is refused. */
  maxWaiting: number;
  /** Before each round trip: a moment in which other calls join the batch. Without it, a lone call is sent at once. */
  gather?: () => Promise<void>;
}

/** Calls of the same turn of the event loop share a batch: under load there are many. */
export const nextLoopTurn = () => new Promise<void>(resolve => setImmediate(resolve));

export class BatcherFullError extends Error {}

interface Waiting<Item, Answer> {
  item: Item;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

export function createBatcher<Item, Answer>(options: BatcherOptions<Item, Answer>) {
  const lanes = new Map<number, Waiting<Item, Answer>[]>();

  async function runLane(lane: number, waiting: Waiting<Item, Answer>[]): Promise<void> {
    while (waiting.length > 0) {
      if (options.gather) await options.gather();
      await carryOut(waiting.splice(0, options.maxBatch));
    }
    lanes.delete(lane);
  }

  async function carryOut(batch: Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await options.run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => {
        resolve(answers[index]!);
      });
    } catch (error) {
      if (batch.length === 1 || !options.isItemError(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      // One bad item must not fail the others: halve the batch until it is alone.
      const middle = batch.length >> 1;
      await carryOut(batch.slice(0, middle));
      await carryOut(batch.slice(middle));
    }
  }

  return (item: Item): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const lane = options.laneOf(item);
      const waiting = lanes.get(lane);
      if (waiting && waiting.length >= options.maxWaiting) {
        return reject(new BatcherFullError('too many callers are waiting'));
      }
      if (waiting) return void waiting.push({ item, resolve, reject });
      const fresh = [{ item, resolve, reject }];
      lanes.set(lane, fresh);
      void runLane(lane, fresh);
    });
}
