import type { Queryable } from './pool.ts';
import { readRow } from './reads.ts';

export interface ConnectionLimits {
  /** What is left of max_connections for ordinary users. */
  allowed: number;
  /** Sessions of others than the one that asks. */
  used: number;
}

export const readConnectionLimits = (db: Queryable) =>
  readRow<ConnectionLimits>(db, {
    text: `SELECT current_setting('max_connections')::int
                  - current_setting('superuser_reserved_connections')::int
                  - coalesce(current_setting('reserved_connections', true)::int, 0) AS allowed,
                  (SELECT count(*)::int FROM pg_stat_activity
                    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()) AS used`,
  });

/** The pools of a process, its sessions for locks and messages, and the check of the history; see docs/internals/database.md. */
export const connectionsPerProcess = 24;
