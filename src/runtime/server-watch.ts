import type { Alarms } from '../alarms/index.ts';
import { startBackgroundLoop } from '../base/background-loop.ts';
import type { Clock } from '../base/clock.ts';
import { describeNotArchived, readWalArchiving } from '../db/backup/index.ts';
import { describeAsynchronous, type Queryable, readStandbys } from '../db/postgres/index.ts';
import type { Cleanup } from './graceful-shutdown.ts';

const checkIntervalMs = 60_000;
const subject = 'database';

/** By the kind of its alarm: what is wrong with the server, or undefined. */
const conditions: Record<string, (db: Queryable) => Promise<string | undefined>> = {
  asynchronous_standby: async db => describeAsynchronous(await readStandbys(db)),
  wal_not_archived: async db => describeNotArchived(await readWalArchiving(db)),
};

type ServerWatchDeps = { db: Queryable; clock: Clock; alarms: Alarms };

/** Raises an alarm while a fail-over or the loss of a disk would lose payments, and clears it. */
export const startServerWatch = ({ db, clock, alarms }: ServerWatchDeps): Cleanup =>
  startBackgroundLoop({
    clock,
    everyMs: checkIntervalMs,
    work: async () => {
      // One that cannot be read does not hide the other.
      await Promise.allSettled(
        Object.entries(conditions).map(async ([kind, look]) => {
          const detail = await look(db);
          if (detail === undefined) await alarms.clear(kind, subject);
          else await alarms.raise({ kind, subject, detail });
        }),
      );
    },
    // An outage of the database is logged by the heartbeat; the next minute asks again.
    onError: () => {},
  }).stop;
