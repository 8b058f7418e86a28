import type { Random } from '../helpers/random.ts';
import type { Actor } from './actor.ts';
import type { Histories } from './histories.ts';
import type { Partners } from './partners.ts';
import type { Processes } from './processes.ts';
import type { World } from './world.ts';

/** The database is replaced at `atMs` by a copy of itself from `snapshotMs`; both from the beginning of the run. */
export interface Loss {
  snapshotMs: number;
  atMs: number;
}

const maxLagMs = 60_000;
/** Other faults go on for this long after a loss. */
export const recoveryMs = 60_000;

/** Often one; a second one may come while the first is being recovered. */
export function drawLosses(random: Random, busyMs: number): Loss[] {
  const losses: Loss[] = [];
  for (let left = random.chance(0.25) ? 2 : 1; left > 0; left--) {
    const fromMs = (losses.at(-1)?.atMs ?? -1) + 1;
    const atMs = fromMs + random.between(1, fromMs === 0 ? busyMs + 10_000 : 90_000);
    const lagMs = random.chance(0.3) ? random.between(0, 3_000) : random.between(10_000, maxLagMs);
    losses.push({ snapshotMs: Math.max(fromMs, atMs - 1 - lagMs), atMs });
  }
  return losses;
}

/** A standby that lagged is promoted, or a backup is restored: the last commits are gone, and the bank goes on. */
export function createGoingBack(
  { random, scheduler, trace }: World,
  losses: Loss[],
  { histories, processes, partners }: { histories: Histories; processes: Processes; partners: Partners },
): Actor {
  async function goBack({ snapshotMs, atMs }: Loss): Promise<void> {
    const how = random.pick(['restore', 'promotion'] as const);
    trace.add('database', `goes back by ${atMs - snapshotMs} ms: ${how}`);
    await histories.goBack(how);
    processes.leaveHistory();
    for (let count = random.between(1, 3); count > 0; count--)
      scheduler.after(random.between(0, 10_000), { run: processes.start });
    partners.repeatSome();
  }

  return {
    plan: () => {
      for (const loss of losses) {
        scheduler.after(loss.snapshotMs, { run: histories.takeSnapshot });
        scheduler.after(loss.atMs, { run: () => goBack(loss) });
      }
    },
  };
}
