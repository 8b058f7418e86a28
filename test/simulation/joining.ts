import type { DatabaseClock } from '../../src/db/database-clock.ts';
import { joinIncarnation } from '../../src/db/incarnation/join.ts';
import { NotAnsweringError } from '../../src/db/pool.ts';
import { NoListError } from './bank.ts';
import type { Histories, History } from './histories.ts';
import { openCheckedClock } from './machines.ts';
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
