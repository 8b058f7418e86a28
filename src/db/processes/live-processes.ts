import { type Queryable, readRows } from '../postgres/index.ts';
import { heartbeatLockClass } from './heartbeat.ts';

/** A running process of the service, and the secret keys that it has; null: a version that does not report them. */
export interface LiveProcess {
  instance: number;
  keyIds: string[] | null;
  sealingKey: string | null;
  /** Whether it has its lock. One without may have just ended, or may be reconnecting. */
  isConnected: boolean;
}

/** With a lock, or with a beat in the last seconds: while its session reconnects, a process has no lock. */
export const listLiveProcesses = (db: Queryable) =>
  readRows<LiveProcess>(db, {
    text: `SELECT instance, b.key_ids AS "keyIds", b.sealing_key AS "sealingKey", locked IS NOT NULL AS "isConnected"
             FROM (SELECT DISTINCT l.objid::bigint::int AS instance, true AS locked FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                    WHERE l.locktype = 'advisory' AND l.granted AND l.mode = 'ExclusiveLock' AND l.objsubid = 2
                      AND d.datname = current_database() AND l.classid = $1::int::oid) AS connected
             FULL JOIN process_beats b USING (instance)
            WHERE locked OR b.at > clock_timestamp() - interval '10 s' ORDER BY instance`,
    values: [heartbeatLockClass],
  });
