import { storeRate } from '../../src/rates/store.ts';
import type { Actor } from './actor.ts';
import type { Histories } from './histories.ts';
import type { World } from './world.ts';

/** New rates arrive for as long as partners request payments, sometimes too rarely. */
export function createRates({ random, scheduler, pool }: World, histories: Histories): Actor {
  const clock = scheduler.clockOf('rates');

  async function refresh(): Promise<void> {
    const rateE4 = BigInt(random.between(900_000, 950_000));
    await storeRate(pool, clock, { midE4: rateE4, rateE4, spreadBps: 0, asOfMs: clock.nowMs(), parts: [] });
    histories.current().database.rateChanged();
  }

  return {
    plan: async ({ busyMs }) => {
      await refresh();
      for (let at = 0; at < busyMs; at += random.between(30_000, 400_000))
        scheduler.after(at, { run: refresh });
    },
  };
}
