import type { Actor } from './actor.ts';
import type { Processes } from './processes.ts';
import type { World } from './world.ts';

/** Processes die and come back, or stand still for a while. */
export function createMisfortune({ random, scheduler, trace }: World, processes: Processes): Actor {
  async function kill(): Promise<void> {
    const running = processes.running();
    if (running.length === 0) return;
    await processes.kill(random.pick(running));
    scheduler.after(random.between(100, 60_000), { run: processes.start });
  }

  function standStill(): void {
    const running = processes.running();
    if (running.length === 0) return;
    const process = random.pick(running);
    trace.add(process.name, 'stands still');
    process.stoodStill = true;
    scheduler.stall(process.name, random.between(1_000, 120_000));
  }

  async function replace(): Promise<void> {
    const process = random.pick(processes.running());
    processes.start();
    await processes.kill(process);
  }

  return {
    plan: ({ busyMs, calmAfterMs }) => {
      for (let count = random.between(1, 3); count > 0; count--) processes.start();
      const overMs = random.chance(0.7) ? busyMs : calmAfterMs;
      for (let deaths = random.pick([0, 0, 1, 2, 4]); deaths > 0; deaths--)
        scheduler.after(random.between(0, overMs), { run: kill });
      for (let stalls = random.pick([0, 0, 0, 1, 2]); stalls > 0; stalls--)
        scheduler.after(random.between(0, overMs), { run: standStill });
    },
    becomeCalm: () => {
      if (processes.running().length === 0) processes.start();
      // With all else well, the others have no excuse for leaving the payments of the dead where they are.
      if (random.chance(0.3)) scheduler.after(random.between(0, 90_000), { run: replace });
    },
  };
}
