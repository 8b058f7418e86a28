import type { Clock } from '../../base/clock.ts';
import {
  createOwnLanes,
  type LeftOver,
  type LockWait,
  type OwnLanesOptions,
  type Waiting,
} from './own-lanes.ts';

/**
 * Collects calls that arrive while the previous batch is under way, so that one round trip and one commit serve many
 * callers. A lone call is sent at once: batching adds no waiting time, it uses the time that callers wait anyway.
 */
export interface BatcherOptions<Item, Answer> {
  /** Carries out many items in one call and answers each, in the same order. Must be safe to repeat. */
  run: (items: Item[], lockWait: LockWait) => Promise<Answer[]>;
  /** Whether a single item can have caused the error, so that the others may succeed without it. */
  isItemError: (error: unknown) => boolean;
  maxBatch: number;
  /** Backpressure: when this many callers are waiting, the next is refused. */
  maxWaiting: number;
  /** Before a round trip that is not full: time in which other calls join it. Without it, a lone call is sent at once. */
  gather?: (size: () => number) => Promise<void>;
  /** Keeps items whose rows are locked from holding up the others. Without it, every call waits as long as usual. */
  ownLanes?: OwnLanesOptions<Item>;
  observer?: BatchObserver<Item, Answer>;
}

/** For metrics and traces. */
export interface BatchObserver<Item, Answer> {
  clock: Clock;
  /** A batch was gathered, and its oldest item has waited so long. */
  onBatch: (size: number, waitedMs: number) => void;
  /** A call begins. What this returns gets the answers, or nothing if the call fails. */
  onStart: (items: Item[]) => (answers?: Answer[]) => void;
}

export const nextLoopTurn = () => new Promise<void>(resolve => setImmediate(resolve));

/**
 * Calls of the same turn of the event loop share a batch, and those of the next turn, too, if others have joined: under load every turn
 * brings some, and a statement costs more than all of them. A lone call waits for one turn.
 */
export async function whileOthersJoin(size: () => number): Promise<void> {
  const before = size();
  await nextLoopTurn();
  if (size() > before) await nextLoopTurn();
}

export class BatcherFullError extends Error {}

export function createBatcher<Item, Answer>(options: BatcherOptions<Item, Answer>) {
  type Batch = Waiting<Item, Answer>[];
  const waiting: Batch = [];
  const { observer } = options;
  let isRunning = false;
  const ownLanes =
    options.ownLanes &&
    createOwnLanes(options.ownLanes, { runBatch, giveBack: add, maxBatch: options.maxBatch });

  async function runBatches(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      if (options.gather && waiting.length < options.maxBatch) await options.gather(() => waiting.length);
      const batch = waiting.splice(0, options.maxBatch);
      observer?.onBatch(batch.length, observer.clock.monotonicMs() - batch[0]!.sinceMs!);
      if (ownLanes) await ownLanes.runWithoutLocked(batch, waiting);
      else await runBatch(batch, 'long');
    }
    isRunning = false;
  }

  async function runBatch(batch: Batch, lockWait: LockWait): Promise<LeftOver<Item, Answer>> {
    const items = batch.map(({ item }) => item);
    const onEnd = observer?.onStart(items);
    try {
      const answers = await options.run(items, lockWait);
      onEnd?.(answers);
      batch.forEach(({ resolve }, index) => {
        resolve(answers[index]!);
      });
    } catch (error) {
      onEnd?.();
      if (options.ownLanes?.isLockTimeout(error)) return { items: batch, error };
      if (batch.length > 1 && options.isItemError(error)) return runHalves(batch, lockWait);
      for (const { reject } of batch) reject(error);
    }
    return { items: [] };
  }

  /** One bad item must not fail the others: the batch is halved until it is alone. */
  async function runHalves(batch: Batch, lockWait: LockWait): Promise<LeftOver<Item, Answer>> {
    const middle = batch.length >> 1;
    const first = await runBatch(batch.slice(0, middle), lockWait);
    const second = await runBatch(batch.slice(middle), lockWait);
    return { items: [...first.items, ...second.items], error: second.error ?? first.error };
  }

  function add(item: Waiting<Item, Answer>): void {
    if (observer) item.sinceMs = observer.clock.monotonicMs();
    waiting.push(item);
    if (!isRunning) void runBatches();
  }

  return (item: Item): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const isApart = ownLanes?.has(item);
      if (isApart ? ownLanes!.isFull() : waiting.length >= options.maxWaiting)
        return reject(new BatcherFullError('too many callers are waiting'));
      (isApart ? ownLanes!.add : add)({ item, resolve, reject });
    });
}
