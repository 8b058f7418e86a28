import type { Clock } from '../../base/clock.ts';

/** How long a call may wait for locks: shortly while others wait with it, as long as usual otherwise. */
export type LockWait = 'short' | 'long';

export interface Waiting<Item, Answer> {
  item: Item;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
  /** When it joined the queue; only where that is measured. */
  sinceMs?: number;
}

/** Items that were not carried out since a lock was not released in time, and that error. */
export interface LeftOver<Item, Answer> {
  items: Waiting<Item, Answer>[];
  error?: unknown;
}

/**
 * One locked row must not hold up everybody who shares a lane. So a batch waits for locks only shortly. When that is not
 * enough, the batch goes on without the items whose rows are locked now, and these wait in a lane of their key alone,
 * with the usual patience. New items of the key go there too, until its row is found free; then the key returns.
 *
 * A run in an own lane occupies a connection while it waits, so only a few may do so at a time. Other locked keys cost
 * one short statement every 50 ms for all of them. Waiting in the database's queue is preferred: under contention, a row
 * that one only looks at from time to time is locked each time.
 */
export interface OwnLanesOptions<Item> {
  /** What the rows to lock belong to, for example the account. All items of a key have the same lane. */
  keyOf: (item: Item) => string;
  /** Whether a lock was not released in time. Nothing was carried out then. */
  isLockTimeout: (error: unknown) => boolean;
  /** Those of the items whose rows are locked now. It does not wait for them. */
  findLocked: (items: Item[]) => Promise<Item[]>;
  clock: Clock;
  /** How long items wait that get no run of their own. */
  maxWaitMs: number;
  /** How many keys wait in a run of their own at the same time. Batchers of one pool of connections may share them. */
  runs: RunPlaces;
  /** Backpressure: when this many callers wait in all own lanes together, the next is refused. */
  maxWaitingApart: number;
}

type RunPlaces = ReturnType<typeof createRunPlaces>;

export function createRunPlaces(max: number) {
  const retries = new Set<() => void>();
  let taken = 0;
  return {
    /** False if all are taken; then `retry` is called when one is free. */
    take: (retry: () => void) => {
      const isFree = taken < max;
      if (isFree) taken += 1;
      else retries.add(retry);
      return isFree;
    },
    free: () => {
      taken -= 1;
      // The longest waiting one first.
      const waiting = [...retries];
      retries.clear();
      for (const retry of waiting) retry();
    },
  };
}

interface OwnLane<Item, Answer> {
  waiting: (Waiting<Item, Answer> & { sinceMs: number })[];
  isRunning: boolean;
  /** Why it exists; the answer for items that wait too long. */
  error: unknown;
}

/** What own lanes need of their batcher. */
interface SharedLane<Item, Answer> {
  runBatch: (batch: Waiting<Item, Answer>[], lockWait: LockWait) => Promise<LeftOver<Item, Answer>>;
  /** Adds an item to the shared lane again. */
  giveBack: (waiting: Waiting<Item, Answer>) => void;
  maxBatch: number;
}

const pollEveryMs = 50;

export function createOwnLanes<Item, Answer>(
  { keyOf, findLocked, clock, ...limits }: OwnLanesOptions<Item>,
  { runBatch, giveBack, maxBatch }: SharedLane<Item, Answer>,
) {
  type Batch = Waiting<Item, Answer>[];
  type Lane = OwnLane<Item, Answer>;
  const lanes = new Map<string, Lane>();
  let isPolling = false;

  const rejectAll = (batch: Batch, error: unknown) => {
    for (const { reject } of batch) reject(error);
  };
  const withItems = () => [...lanes].filter(([, { isRunning, waiting }]) => !isRunning && waiting.length > 0);

  /** `waiting` are the callers behind the batch in the shared lane: those of a locked key leave with it, in order. */
  async function runWithoutLocked(batch: Batch, waiting: Batch): Promise<void> {
    let rest = batch;
    try {
      for (let unexplained = 0; rest.length > 0; ) {
        // Twice no locked key was found: something else is locked, such as a table. That concerns all.
        const left = await runBatch(rest, unexplained < 2 ? 'short' : 'long');
        rest = left.items;
        if (rest.length === 0) return;
        if (unexplained === 2) return rejectAll(rest, left.error);
        const locked = new Set((await findLocked(rest.map(({ item }) => item))).map(keyOf));
        unexplained = locked.size === 0 ? unexplained + 1 : 0;
        rest = separate(rest, locked, left.error);
        waiting.push(...separate(waiting.splice(0), locked, left.error));
        startRuns();
      }
    } catch (error) {
      rejectAll(rest, error);
    }
  }

  /** Moves the items of locked keys to their own lanes, and returns the others. */
  function separate(batch: Batch, locked: Set<string>, error: unknown): Batch {
    return batch.filter(waiting => {
      const key = keyOf(waiting.item);
      if (!locked.has(key)) return true;
      if (!lanes.has(key)) lanes.set(key, { waiting: [], isRunning: false, error });
      lanes.get(key)!.waiting.push({ ...waiting, sinceMs: clock.monotonicMs() });
      return false;
    });
  }

  function startRuns(): void {
    for (const [key, lane] of withItems()) {
      if (!limits.runs.take(startRuns)) return void poll();
      lane.isRunning = true;
      // To the end, so that all take turns.
      lanes.delete(key);
      lanes.set(key, lane);
      void runAlone(key, lane);
    }
  }

  async function runAlone(key: string, lane: Lane): Promise<void> {
    const batch = lane.waiting.splice(0, maxBatch);
    const { items, error } = await runBatch(batch, 'long');
    if (items.length > 0) {
      lane.error = error;
      rejectAll(items, error);
      rejectOld(lane);
    }
    const locked = await findLocked([batch[0]!.item]).catch(() => [batch[0]!.item]);
    lane.isRunning = false;
    if (locked.length === 0) close(key, lane);
    limits.runs.free();
    startRuns();
  }

  /** Its row is free: the key shares the lane with the others again. */
  function close(key: string, lane: Lane): void {
    lanes.delete(key);
    for (const waiting of lane.waiting) giveBack(waiting);
  }

  function rejectOld(lane: Lane): void {
    const newest = clock.monotonicMs() - limits.maxWaitMs;
    const old = lane.waiting.filter(({ sinceMs }) => sinceMs <= newest);
    lane.waiting = lane.waiting.filter(({ sinceMs }) => sinceMs > newest);
    rejectAll(old, lane.error);
  }

  /** For the keys that got no run of their own. */
  async function poll(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    while (withItems().length > 0) {
      await clock.sleep(pollEveryMs);
      await closeFree();
      for (const [, lane] of withItems()) rejectOld(lane);
      startRuns();
    }
    isPolling = false;
  }

  async function closeFree(): Promise<void> {
    const polled = withItems();
    if (polled.length === 0) return;
    const items = polled.map(([, { waiting }]) => waiting[0]!.item);
    // Meanwhile a lane may have got a run, and may have closed and been made anew: what was seen does not concern it.
    const unchanged = () => polled.filter(([key, lane]) => lanes.get(key) === lane && !lane.isRunning);
    try {
      const locked = new Set((await findLocked(items)).map(keyOf));
      for (const [key, lane] of unchanged()) if (!locked.has(key)) close(key, lane);
    } catch (error) {
      // The database does not answer: these would wait in vain.
      for (const [, lane] of unchanged()) rejectAll(lane.waiting.splice(0), error);
    }
  }

  return {
    runWithoutLocked,
    has: (item: Item) => lanes.has(keyOf(item)),
    isFull: () =>
      [...lanes.values()].reduce((sum, { waiting }) => sum + waiting.length, 0) >= limits.maxWaitingApart,
    add: (waiting: Waiting<Item, Answer>) => {
      lanes.get(keyOf(waiting.item))!.waiting.push({ ...waiting, sinceMs: clock.monotonicMs() });
      startRuns();
    },
  };
}
