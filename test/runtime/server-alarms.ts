import { createAlarms, listAlarms } from '../../src/alarms/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Pool } from '../../src/db/pool.ts';
import { startServerWatch } from '../../src/runtime/server-watch.ts';

/** The open alarms after one round of the watch. */
export async function alarmsAfterRound(pool: Pool): Promise<string[]> {
  const alarms = createAlarms({ db: pool, clock: systemClock, log: { warn: () => {} } });
  const round = Promise.withResolvers<void>();
  const clock = { ...systemClock, sleep: async () => round.resolve() };
  const stop = startServerWatch({ db: pool, clock, alarms });
  await round.promise;
  await stop();
  return (await listAlarms(pool, { cleared: false })).map(({ kind }) => kind);
}
