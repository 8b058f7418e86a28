import { storeRate } from '../../src/rates/store.ts';
import type { Random } from '../helpers/random.ts';
import type { Histories } from './histories.ts';
import type { Partners } from './partners.ts';
import type { Processes } from './processes.ts';
import type { Actor, World } from './world.ts';

/** Simulated process failures: processes are killed and started again, or stall for a while. */
export function createProcessFailures({ random, scheduler, trace }: World, processes: Processes): Actor {
  async function kill(): Promise<void> {
    const running = processes.running();
    if (running.length === 0) return;
    await processes.kill(random.pick(running));
    scheduler.after(random.between(100, 60_000), { run: processes.start });
  }

  function stall(): void {
    const running = processes.running();
    if (running.length === 0) return;
    const process = random.pick(running);
    trace.add(process.name, 'stalls');
    process.hasStalled = true;
    scheduler.stall(process.name, random.between(1_000, 120_000));
  }

  async function replace(): Promise<void> {
    const running = processes.running();
    if (running.length === 0) return;
    processes.start();
    await processes.kill(random.pick(running));
  }

  return {
    plan: ({ busyMs, faultsEndAfterMs }) => {
      for (let count = random.between(1, 3); count > 0; count--) processes.start();
      const overMs = random.chance(0.7) ? busyMs : faultsEndAfterMs;
      for (let deaths = random.pick([0, 0, 1, 2, 4]); deaths > 0; deaths--)
        scheduler.after(random.between(0, overMs), { run: kill });
      for (let stalls = random.pick([0, 0, 0, 1, 2]); stalls > 0; stalls--)
        scheduler.after(random.between(0, overMs), { run: stall });
    },
    stopFaults: () => {
      // One that stands still in a lost history does nothing for this one.
      if (processes.running().every(({ history }) => history.lostMs !== undefined)) processes.start();
      // Without other faults, the remaining processes must take over the payments of a killed one.
      if (random.chance(0.3)) scheduler.after(random.between(0, 90_000), { run: replace });
    },
  };
}

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

/** New rates arrive for as long as partners request payments, sometimes too rarely. */
export function createRates({ random, scheduler, pool }: World): Actor {
  const clock = scheduler.clockOf('rates');

  async function refresh(): Promise<void> {
    const rateE4 = BigInt(random.between(900_000, 950_000));
    await storeRate(pool, clock, { midE4: rateE4, rateE4, spreadBps: 0, asOfMs: clock.nowMs(), parts: [] });
  }

  return {
    plan: async ({ busyMs }) => {
      await refresh();
      for (let at = 0; at < busyMs; at += random.between(30_000, 400_000))
        scheduler.after(at, { run: refresh });
    },
  };
}
