import type { Clock } from '../../src/base/clock.ts';
import { type DatabaseClock, openDatabaseClock } from '../../src/db/database-clock.ts';
import type { Queryable } from '../../src/db/pool.ts';
import type { World } from './world.ts';

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
