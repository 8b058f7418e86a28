import type { Queryable } from './pool.ts';
import { readRow } from './reads.ts';

export interface Standbys {
  connected: number;
  /** Whether a commit waits for one of them. */
  isSynchronous: boolean;
}

/**
 * Servers that copy this one. A user without the role pg_monitor sees their sessions and not what they do, so whatever is
 * known to be something else is left out: backups, archivers, and subscribers of logical replication.
 */
export const readStandbys = (db: Queryable) =>
  readRow<Standbys>(db, {
    text: `SELECT count(s.pid)::int AS connected, current_setting('synchronous_standby_names') <> '' AS "isSynchronous"
             FROM pg_stat_replication s
            WHERE coalesce(s.state IN ('catchup', 'streaming'), true)
              AND coalesce(s.application_name NOT IN ('pg_basebackup', 'pg_receivewal'), true)
              AND NOT EXISTS (SELECT FROM pg_replication_slots r WHERE r.active_pid = s.pid AND r.slot_type = 'logical')`,
  });

/** What to do about it; undefined if all is well. */
export const describeAsynchronous = ({ connected, isSynchronous }: Standbys) =>
  connected > 0 && !isSynchronous
    ? `${connected} ${connected === 1 ? 'standby is' : 'standbys are'} connected and no commit waits for one: a fail-over would lose payments. Set synchronous_standby_names on the server.`
    : undefined;
