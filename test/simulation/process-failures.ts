import type { Actor } from './actor.ts';
import type { Processes } from './processes.ts';
import type { World } from './world.ts';

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
