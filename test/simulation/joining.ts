import type { Alarms } from '../../src/alarms/index.ts';
import type { Clock } from '../../src/base/clock.ts';
import { joinIncarnation } from '../../src/db/history/join.ts';
import { type DatabaseClock, openDatabaseClock } from '../../src/db/postgres/database-clock.ts';
import { NotAnsweringError } from '../../src/db/postgres/database-errors.ts';
import type { Queryable } from '../../src/db/postgres/pool.ts';
import type { Gateway } from '../../src/gateway/gateway.ts';
import type { PaymentSignals } from '../../src/payments/index.ts';
import { NoListError } from './bank.ts';
import type { Histories, History } from './histories.ts';
import type { Polling } from './scheduler.ts';
import type { World } from './world.ts';

/** A process that has joined its history. */
export interface Joined {
  name: string;
  instance: number;
  history: History;
  clock: DatabaseClock;
}

/**
 * A starting process: it measures the clock of the database and joins its history. Without a connection it starts again;
 * undefined if the history was lost meanwhile.
 */
export async function joinHistory(
  world: World,
  histories: Histories,
  { name, history }: Omit<Joined, 'clock'>,
): Promise<DatabaseClock | undefined> {
  while (history === histories.current())
    try {
      const clock = await openCheckedClock(world, name, history.database.connectionOf(name));
      if (histories.mayGoBack) await joinDatabase(world, { name, history }, clock);
      return clock;
    } catch (error) {
      expectLostConnection(world, error);
    }
  return undefined;
}

/** If the answer is lost it is repeated, and may begin a second incarnation. */
async function joinDatabase(
  { trace }: World,
  { name, history }: { name: string; history: History },
  clock: DatabaseClock,
): Promise<void> {
  const pool = history.database.connectionOf(name);
  history.joinsFirst ??= name;
  while (history.isMarkedRestored && history.joinsFirst !== name && history.lostMs === undefined)
    await clock.sleep(1_000);
  const isRestored = history.isMarkedRestored;
  await joinIncarnation({ pool, clock }, { place: undefined, isRestored });
  history.isMarkedRestored = false;
  history.isJoined = true;
  trace.add(name, 'joins');
}

/**
 * A lost database connection is the only error that is expected, or no list of orders, or, after a stall, no answer about
 * an undone payment in time; any other one is a bug.
 */
export function expectLostConnection({ violate }: World, error: unknown): void {
  if (error instanceof NotAnsweringError || error instanceof NoListError) return;
  if (!(error instanceof Error) || error.message !== 'Connection terminated unexpectedly')
    violate('no error but a lost connection', error instanceof Error ? `${error.stack}` : `${error}`);
}

const hourMs = 3_600_000;
const maxDriftPpm = 400;

/**
 * The clocks of the machine that a process runs on: its clock is wrong by up to an hour and jumps, and its monotonic
 * clock has an origin and a speed of its own.
 */
export function createMachine({ random, scheduler, trace, faults }: World, processName: string): Clock {
  const startedMs = scheduler.nowMs();
  const originMs = random.between(0, 1_000 * hourMs);
  const speed = 1 + random.between(-maxDriftPpm, maxDriftPpm) / 1e6;
  let offsetMs = random.chance(0.3) ? 0 : random.between(-hourMs, hourMs);

  function jump(): void {
    offsetMs = random.between(-hourMs, hourMs);
    trace.add(processName, `the clock of its machine is now ${offsetMs} ms ahead`);
  }
  for (let jumps = faults.clockJumps; jumps > 0; jumps--)
    scheduler.after(random.between(0, 600_000), { processName, run: jump });

  return {
    nowMs: () => scheduler.nowMs() + offsetMs,
    monotonicMs: () => originMs + (scheduler.nowMs() - startedMs) * speed,
    sleep: scheduler.clockOf(processName).sleep,
    timer: scheduler.clockOf(processName).timer,
  };
}

/** The estimate of the database's clock that the service uses, and the proof that it is as exact as it says. */
export async function openCheckedClock(
  world: World,
  processName: string,
  db: Queryable,
): Promise<DatabaseClock> {
  const clock = await openDatabaseClock(db, createMachine(world, processName));
  return {
    ...clock,
    nowMs: () => {
      const readMs = clock.nowMs();
      // Times are whole milliseconds.
      const allowedMs = clock.uncertaintyMs() + 1;
      const errorMs = Math.abs(readMs - world.scheduler.nowMs());
      if (errorMs > allowedMs)
        world.violate(
          "every process has the database's time, as exactly as it says",
          `${processName} is off by ${errorMs} ms, at most ${allowedMs} ms allowed`,
        );
      world.clockErrorMs = Math.max(world.clockErrorMs, allowedMs);
      return readMs;
    },
  };
}

/** Work of every process beside payments: it watches a chain, or reads refunds. */
export interface Watcher {
  /** Until the process dies. */
  watch(joined: Joined, deps: WatchDeps): void;
}

export interface WatchDeps {
  alarms: Alarms;
  gateway: Gateway;
  signals: PaymentSignals;
  log: Record<'info' | 'error', (details: object, message: string) => void>;
  clockOf(polling: Polling): Clock;
}
