import type { Alarms } from '../alarms/index.ts';
import { startBackgroundLoop } from '../base/background-loop.ts';
import type { Clock } from '../base/clock.ts';
import type { Queryable } from '../db/pool.ts';
import { describeAsynchronous, readStandbys } from '../db/standbys.ts';
import type { Cleanup } from './graceful-shutdown.ts';

const checkIntervalMs = 60_000;
const kind = 'asynchronous_standby';
const subject = 'database';

interface StandbyWatchDeps {
  db: Queryable;
  clock: Clock;
  alarms: Alarms;
}

/** Raises the alarm `asynchronous_standby` while a standby could be promoted without the last commits, and clears it. */
export const startStandbyWatch = ({ db, clock, alarms }: StandbyWatchDeps): Cleanup =>
  startBackgroundLoop({
    clock,
    everyMs: checkIntervalMs,
    work: async () => {
      const detail = describeAsynchronous(await readStandbys(db));
      if (detail === undefined) await alarms.clear(kind, subject);
      else await alarms.raise({ kind, subject, detail });
    },
    // An outage of the database is logged by the heartbeat; the next minute asks again.
    onError: () => {},
  }).stop;
